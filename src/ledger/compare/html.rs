use super::text::text;
use super::{Comparison, svg};
use crate::text::escape;

/// A page with the plot and the figures; it loads nothing from the network.
#[must_use]
pub fn html(comparison: &Comparison) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Comparison of runs</title>\n<style>body {{ font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }} svg {{ max-width: 100%; height: auto }} pre {{ overflow-x: auto }}</style>\n<main>\n<h1>Comparison of runs</h1>\n{}<pre>\n{}</pre>\n</main>\n</html>\n",
        svg(comparison),
        escape::html(&text(comparison))
    )
}
