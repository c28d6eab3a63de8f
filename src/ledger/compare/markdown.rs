use super::Comparison;
use super::text::{environment, means, sentence, tests};
use crate::text::escape;

/// Markdown, for example for a pull request.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::from("## Comparison\n");
    for contrasts in &comparison.figures {
        let figure = contrasts.figure;
        out.push_str(&format!(
            "\n### {} ({})\n\n{}\n\n",
            escape::markdown(figure.name()),
            figure.unit(),
            figure.meaning()
        ));
        out.push_str(&means(contrasts).markdown());
        for contrast in &contrasts.against_first {
            let sentence = sentence(contrasts, contrast, comparison.confidence);
            out.push_str(&format!("\n{}\n\n", escape::markdown(sentence.trim_end())));
            out.push_str(&tests(contrast).markdown());
        }
    }
    out.push('\n');
    for line in environment(&comparison.environment) {
        out.push_str(&format!("- {}\n", escape::markdown(&line)));
    }
    out
}
