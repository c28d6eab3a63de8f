//! Text that leaves the program: escaping, numbers, quantities, tables, CSV, SVG and the axes of pictures, and suggestions for misspelt names.

pub(crate) mod axis;
pub(crate) mod csv;
pub mod escape;
pub mod nearest;
pub mod number;
pub(crate) mod page;
pub(crate) mod quantity;
pub(crate) mod svg;
pub mod table;
