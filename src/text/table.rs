//! One table of words and numbers, in any format.

use super::csv::{Cell, csv};
use super::escape;

/// A table whose first columns are words and whose others are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    head: Vec<String>,
    words: usize,
    rows: Vec<Vec<String>>,
}

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
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, superfluous cells are dropped.
    pub fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().take(self.head.len()).collect();
        row.resize(self.head.len(), String::new());
        self.rows.push(row);
    }

    /// Plain text: columns padded with spaces, words aligned left and numbers right.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        for line in lines() {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                if column > 0 {
                    text.push_str("  ");
                }
                let cell = escape::line(cell);
                if column < self.words {
                    text.push_str(&format!("{cell:<width$}"));
                } else {
                    text.push_str(&format!("{cell:>width$}"));
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
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape::markdown(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = row(&self.head);
        out.push('|');
        out.push_str(&" --- |".repeat(self.words));
        out.push_str(&" ---: |".repeat(self.head.len() - self.words));
        out.push('\n');
        for cells in &self.rows {
            out.push_str(&row(cells));
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
        for cells in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in cells.iter().enumerate() {
                let cell = escape::html(cell);
                out.push_str(&if column == 0 {
                    format!("<th scope=\"row\">{cell}</th>")
                } else {
                    format!("<td>{cell}</td>")
                });
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        out
    }

    /// A `tabular` environment that needs no package.
    #[must_use]
    pub fn latex(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape::latex(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut out = format!(
            "\\begin{{tabular}}{{{}{}}}\n",
            "l".repeat(self.words),
            "r".repeat(self.head.len() - self.words)
        );
        out.push_str(&row(&self.head));
        out.push_str("\\hline\n");
        for cells in &self.rows {
            out.push_str(&row(cells));
        }
        out.push_str("\\end{tabular}\n");
        out
    }

    /// A list of objects; numbers are numbers, and unknown values are null.
    #[must_use]
    pub fn json(&self) -> String {
        use serde_json::{Map, Value};
        let value = |column: usize, cell: &String| {
            let number = (column >= self.words)
                .then(|| cell.parse().ok().map(Value::Number))
                .flatten();
            match number {
                Some(number) => number,
                None if cell.is_empty() || cell == UNKNOWN => Value::Null,
                None => Value::String(cell.clone()),
            }
        };
        let object = |row: &Vec<String>| {
            let cells = row.iter().enumerate();
            let fields =
                cells.map(|(column, cell)| (self.head[column].clone(), value(column, cell)));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = self.rows.iter().map(object).collect();
        escape::json(&format!("{:#}\n", Value::Array(rows))).into_owned()
    }

    /// CSV in which no word runs as a formula.
    #[must_use]
    pub fn csv(&self) -> String {
        let head = self.head.iter().map(Cell::word).collect();
        csv(std::iter::once(head).chain(self.rows.iter().map(|row| self.csv_row(row))))
    }

    fn csv_row<'a>(&self, row: &'a [String]) -> Vec<Cell<'a>> {
        let (words, numbers) = row.split_at(self.words);
        let numbers = numbers.iter().map(|digits| Cell::Number(digits.into()));
        words.iter().map(Cell::word).chain(numbers).collect()
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
    fn words_stand_left_and_numbers_right() {
        assert_eq!(
            table().text(),
            "run         kWh\n=a|b       -1.5\nlong name    12\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_or_ends_its_column() {
        assert_eq!(table().csv(), "run,kWh\n'=a|b,-1.5\nlong name,12\n");
        assert!(table().markdown().contains("| =a\\|b | -1.5 |"));
    }
}
