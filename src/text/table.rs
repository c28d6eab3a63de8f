//! One table of words and numbers, in any format.

use super::csv::{Cell, csv};
use super::escape;

/// A table whose first columns are words and whose others are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    head: Vec<String>,
    words: usize,
    /// All cells, one after the other: tables may have a hundred thousand rows.
    cells: String,
    /// Where each cell ends.
    ends: Vec<usize>,
}

/// A row may have several lines; a block of rows is shorter than a page.
const ROWS_OF_A_BLOCK: usize = 12;

/// Names without a space are broken after this many characters in LaTeX.
const LONGEST_PIECE: usize = 10;

/// The text of an unknown value in formats for people; CSV has an empty cell instead.
pub const UNKNOWN: &str = "unknown";

impl Table {
    /// A table with these titles of columns of words and of numbers.
    #[must_use]
    pub fn new(words: &[&str], numbers: &[&str]) -> Self {
        Self {
            head: words
                .iter()
                .chain(numbers)
                .map(|&title| title.to_owned())
                .collect(),
            words: words.len(),
            cells: String::new(),
            ends: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, superfluous cells are dropped.
    pub fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        let columns = self.head.len();
        let missing = std::iter::repeat_with(String::new);
        for cell in cells.into_iter().chain(missing).take(columns) {
            self.cells.push_str(&cell);
            self.ends.push(self.cells.len());
        }
    }

    fn rows(&self) -> impl Iterator<Item = Vec<&str>> {
        let cell = |index: usize| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.cells[start..self.ends[index]]
        };
        let columns = self.head.len().max(1);
        (0..self.ends.len() / columns)
            .map(move |row| (row * columns..(row + 1) * columns).map(cell).collect())
    }

    fn head(&self) -> Vec<&str> {
        self.head.iter().map(String::as_str).collect()
    }

    /// Plain text: columns padded with spaces, words aligned left and numbers by their decimal points.
    #[must_use]
    pub fn text(&self) -> String {
        let mut widths = vec![Width::default(); self.head.len()];
        for (width, cell) in widths.iter_mut().zip(self.head()) {
            width.all = cell.chars().count();
        }
        for line in self.rows() {
            for (column, cell) in line.into_iter().enumerate() {
                widths[column].fit(cell, column >= self.words);
            }
        }
        let mut out = String::new();
        for (row, line) in std::iter::once(self.head()).chain(self.rows()).enumerate() {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                if column > 0 {
                    text.push_str("  ");
                }
                let cell = escape::line(cell);
                let all = width.all();
                if column < self.words {
                    text.push_str(&format!("{cell:<all$}"));
                } else if let Some(number) = Number::of(&cell).filter(|_| row > 0) {
                    let number = width.aligned(&number);
                    text.push_str(&format!("{number:>all$}"));
                } else {
                    text.push_str(&format!("{cell:>all$}"));
                }
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }

    /// A table in GitHub-flavoured Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let row = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape::markdown(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = row(&self.head());
        out.push('|');
        out.push_str(&" --- |".repeat(self.words));
        out.push_str(&" ---: |".repeat(self.head.len() - self.words));
        out.push('\n');
        for cells in self.rows() {
            out.push_str(&row(&cells));
        }
        out
    }

    /// A `<table>`; the first cell of a row is its head.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = String::from("<table>\n<thead><tr>");
        for title in &self.head {
            out.push_str(&format!("<th scope=\"col\">{}</th>", escape::html(title)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for cells in self.rows() {
            out.push_str("<tr>");
            for (column, cell) in cells.iter().enumerate() {
                out.push_str(&if column == 0 {
                    format!("<th scope=\"row\">{}</th>", escape::breakable_html(cell))
                } else {
                    format!("<td>{}</td>", escape::html(cell))
                });
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        out
    }

    /// `tabular` environments that need no package and fit a page: the first column breaks its lines, and
    /// a long table is several environments, between which LaTeX breaks pages.
    #[must_use]
    pub fn latex(&self) -> String {
        let row = |cells: &[&str]| {
            let escaped = |(column, cell): (usize, &&str)| match column {
                0 => breakable(cell),
                _ => escape::latex(cell),
            };
            let cells: Vec<String> = cells.iter().enumerate().map(escaped).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut out = String::from("{\\footnotesize\\setlength{\\tabcolsep}{3pt}\n");
        let rows: Vec<Vec<&str>> = self.rows().collect();
        for block in rows.chunks(ROWS_OF_A_BLOCK) {
            out.push_str(&format!(
                "\\noindent\\begin{{tabular}}{{p{{0.28\\linewidth}}{}{}}}\n",
                "l".repeat(self.words.saturating_sub(1)),
                "r".repeat(self.head.len() - self.words)
            ));
            out.push_str(&row(&self.head()));
            out.push_str("\\hline\n");
            for cells in block {
                out.push_str(&row(cells));
            }
            out.push_str("\\end{tabular}\\par\n");
        }
        out.push_str("}\n");
        out
    }

    /// A list of objects; numbers are numbers, and unknown values are null.
    #[must_use]
    pub fn json(&self) -> String {
        use serde_json::{Map, Value};
        let value = |column: usize, cell: &str| {
            let number = (column >= self.words)
                .then(|| cell.parse().ok().map(Value::Number))
                .flatten();
            match number {
                Some(number) => number,
                None if cell.is_empty() || cell == UNKNOWN => Value::Null,
                None => Value::String(cell.to_owned()),
            }
        };
        let object = |row: Vec<&str>| {
            let cells = row.into_iter().enumerate();
            let fields =
                cells.map(|(column, cell)| (self.head[column].clone(), value(column, cell)));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = self.rows().map(object).collect();
        escape::json(&format!("{:#}\n", Value::Array(rows))).into_owned()
    }

    /// CSV in which no word runs as a formula.
    #[must_use]
    pub fn csv(&self) -> String {
        let head = self.head.iter().map(Cell::word).collect();
        csv(std::iter::once(head).chain(self.rows().map(|row| self.csv_row(&row))))
    }

    fn csv_row<'a>(&self, row: &[&'a str]) -> Vec<Cell<'a>> {
        let (words, numbers) = row.split_at(self.words);
        let numbers = numbers.iter().map(|digits| Cell::Number((*digits).into()));
        let words = words.iter().map(|word| Cell::word(*word));
        words.chain(numbers).collect()
    }
}

/// The cells of a column of numbers, all of one length, so that their decimal points stand below each other.
#[must_use]
pub(crate) fn aligned(cells: &[&str]) -> Vec<String> {
    let mut width = Width::default();
    for cell in cells {
        width.fit(cell, true);
    }
    let all = width.all();
    let cell = |cell: &&str| match Number::of(cell) {
        Some(number) => format!("{:>all$}", width.aligned(&number)),
        None => format!("{cell:>all$}"),
    };
    cells.iter().map(cell).collect()
}

/// A name that LaTeX may break after its separators and within its long parts.
fn breakable(name: &str) -> String {
    let mut out = String::from("\\raggedright ");
    let mut piece = String::new();
    for c in name.chars() {
        piece.push(c);
        if matches!(c, '/' | '-' | '_' | '.') || piece.chars().count() == LONGEST_PIECE {
            out.push_str(&escape::latex(&piece));
            out.push_str("\\allowbreak{}");
            piece.clear();
        }
    }
    out.push_str(&escape::latex(&piece));
    out
}

/// A cell that begins with a number: what stands before its decimal point, after it, and its unit.
struct Number<'a> {
    whole: &'a str,
    decimals: &'a str,
    unit: &'a str,
}

impl<'a> Number<'a> {
    fn of(cell: &'a str) -> Option<Self> {
        let (number, unit) = cell.split_at(cell.find(' ').unwrap_or(cell.len()));
        let digits = number.trim_start_matches(['-', '+', '<', '>']);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
        Some(Self {
            whole,
            decimals,
            unit,
        })
    }
}

/// How many characters the parts of the numbers of a column need, and all of its other cells.
#[derive(Clone, Default)]
struct Width {
    whole: usize,
    decimals: usize,
    unit: usize,
    all: usize,
}

impl Width {
    fn fit(&mut self, cell: &str, is_number: bool) {
        if let Some(number) = Number::of(cell).filter(|_| is_number) {
            self.whole = number.whole.chars().count().max(self.whole);
            self.decimals = number.decimals.chars().count().max(self.decimals);
            self.unit = number.unit.chars().count().max(self.unit);
        } else {
            self.all = cell.chars().count().max(self.all);
        }
    }

    fn all(&self) -> usize {
        (self.whole + self.decimals + self.unit).max(self.all)
    }

    fn aligned(&self, number: &Number) -> String {
        format!(
            "{:>3$}{:<4$}{:<5$}",
            number.whole, number.decimals, number.unit, self.whole, self.decimals, self.unit
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["run"], &["kWh"]);
        table.push(["=a|b".to_owned(), "-1.5".to_owned()]);
        table.push(["long name".to_owned(), "12".to_owned()]);
        table
    }

    #[test]
    fn words_stand_left_and_numbers_by_their_decimal_points() {
        assert_eq!(
            table().text(),
            "run         kWh\n=a|b       -1.5\nlong name  12\n"
        );
        let mut table = Table::new(&["run"], &["energy", "share"]);
        for (energy, share) in [("20.08 kWh", "<0.1 %"), ("449 J", "100 %"), (UNKNOWN, "")] {
            table.push(["a".to_owned(), energy.to_owned(), share.to_owned()]);
        }
        assert_eq!(
            table.text(),
            "run      energy    share\n\
             a     20.08 kWh   <0.1 %\n\
             a    449    J    100   %\n\
             a       unknown\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_or_ends_its_column() {
        assert_eq!(table().csv(), "run,kWh\n'=a|b,-1.5\nlong name,12\n");
        assert!(table().markdown().contains("| =a\\|b | -1.5 |"));
    }
}
