//! Charts as inline SVG; colours and fonts come from the style sheet of the page.

mod bars;
mod boxes;
mod canvas;
mod lines;
mod scatter;

pub(super) use bars::{Bar, bars};
pub(super) use boxes::{BoxRow, boxes};
pub(super) use lines::{Band, Line, lines};
pub(super) use scatter::{Dot, Scatter, scatter};
