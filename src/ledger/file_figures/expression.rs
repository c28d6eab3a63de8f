use std::collections::BTreeMap;

use super::column::{Column, Columns};

const LONGEST: usize = 1000;
const DEEPEST: usize = 32;

/// A formula over the columns of a file and the figures of a run: `mean(rmean) / total_power`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Figure(String),
    Aggregate(Aggregate, String),
    Negative(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// A function that makes one number of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Mean,
    Median,
    Min,
    Max,
    Sum,
    First,
    Last,
    Count,
    Std,
}

/// Why a text is not a formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ExpressionError {
    #[error("the formula is longer than {LONGEST} characters")]
    TooLong,
    #[error("the formula is nested more than {DEEPEST} deep")]
    TooDeep,
    #[error("expected {expected} at character {at} of the formula")]
    Expected { expected: &'static str, at: usize },
    #[error(
        "`{0}` is no function: there are mean, median, min, max, sum, first, last, count and std"
    )]
    NoFunction(String),
}

impl Aggregate {
    const ALL: [(&'static str, Self); 9] = [
        ("mean", Self::Mean),
        ("median", Self::Median),
        ("min", Self::Min),
        ("max", Self::Max),
        ("sum", Self::Sum),
        ("first", Self::First),
        ("last", Self::Last),
        ("count", Self::Count),
        ("std", Self::Std),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, aggregate)| aggregate)
    }

    fn of(self, column: &Column) -> Option<f64> {
        match self {
            Self::Mean => column.mean(),
            Self::Median => column.median(),
            Self::Min => column.0.iter().copied().reduce(f64::min),
            Self::Max => column.0.iter().copied().reduce(f64::max),
            Self::Sum => Some(column.0.iter().sum()),
            Self::First => column.0.first().copied(),
            Self::Last => column.0.last().copied(),
            Self::Count => Some(column.0.len() as f64),
            Self::Std => column.std(),
        }
    }
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.len() > LONGEST {
            return Err(ExpressionError::TooLong);
        }
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let expression = parser.sum()?;
        parser.space();
        if parser.at == text.len() {
            Ok(expression)
        } else {
            Err(parser.expected("the end or an operator"))
        }
    }

    /// The columns it needs.
    pub(super) fn columns<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Self::Aggregate(_, column) => into.push(column),
            Self::Negative(inner) => inner.columns(into),
            Self::Binary(_, a, b) => {
                a.columns(into);
                b.columns(into);
            }
            Self::Number(_) | Self::Figure(_) => {}
        }
    }

    /// The figures it needs.
    pub(super) fn figures<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Self::Figure(name) => into.push(name),
            Self::Negative(inner) => inner.figures(into),
            Self::Binary(_, a, b) => {
                a.figures(into);
                b.figures(into);
            }
            Self::Number(_) | Self::Aggregate(..) => {}
        }
    }

    /// Its value; none if a part of it is unknown or the result is not finite.
    pub(super) fn value(&self, columns: &Columns, figures: &BTreeMap<String, f64>) -> Option<f64> {
        let value = match self {
            Self::Number(number) => *number,
            Self::Figure(name) => *figures.get(name)?,
            Self::Aggregate(aggregate, column) => aggregate.of(columns.get(column)?)?,
            Self::Negative(inner) => -inner.value(columns, figures)?,
            Self::Binary(operator, a, b) => {
                let (a, b) = (a.value(columns, figures)?, b.value(columns, figures)?);
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Power => a.powf(b),
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ExpressionError::TooDeep);
        }
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[('+', Operator::Add), ('-', Operator::Subtract)])
        {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.signed()?;
        while let Some(operator) =
            self.operator(&[('*', Operator::Multiply), ('/', Operator::Divide)])
        {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.signed()?));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, ExpressionError> {
        let mut negative = false;
        while self.take('-') {
            negative = !negative;
        }
        let power = self.power()?;
        Ok(if negative {
            Expression::Negative(Box::new(power))
        } else {
            power
        })
    }

    fn power(&mut self) -> Result<Expression, ExpressionError> {
        let base = self.atom()?;
        if !self.take('^') {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ExpressionError::TooDeep);
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        Ok(Expression::Binary(
            Operator::Power,
            Box::new(base),
            Box::new(exponent),
        ))
    }

    fn atom(&mut self) -> Result<Expression, ExpressionError> {
        self.space();
        if self.take('(') {
            let inner = self.sum()?;
            self.close()?;
            return Ok(inner);
        }
        if self
            .rest()
            .starts_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            return self.number();
        }
        let name = self.name("a number, a figure or a function")?;
        if !self.take('(') {
            return Ok(Expression::Figure(name));
        }
        let Some(aggregate) = Aggregate::named(&name) else {
            return Err(ExpressionError::NoFunction(name));
        };
        let column = self.name("the name of a column")?;
        self.close()?;
        Ok(Expression::Aggregate(aggregate, column))
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        if self.take(')') {
            Ok(())
        } else {
            Err(self.expected("`)`"))
        }
    }

    fn number(&mut self) -> Result<Expression, ExpressionError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut length = 0;
        while let Some(byte) = bytes.get(length) {
            let after_e = length > 0 && matches!(bytes[length - 1], b'e' | b'E');
            let belongs = byte.is_ascii_digit()
                || matches!(byte, b'.' | b'e' | b'E')
                || (matches!(byte, b'+' | b'-') && after_e);
            if !belongs {
                break;
            }
            length += 1;
        }
        match rest[..length].parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += length;
                Ok(Expression::Number(number))
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// A plain name, or any name between single quotes.
    fn name(&mut self, expected: &'static str) -> Result<String, ExpressionError> {
        self.space();
        let rest = self.rest();
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted
                .find('\'')
                .ok_or_else(|| self.expected("a closing quote"))?;
            self.at += end + 2;
            return Ok(quoted[..end].to_owned());
        }
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(self.expected(expected));
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    fn operator(&mut self, known: &[(char, Operator)]) -> Option<Operator> {
        known
            .iter()
            .find(|(sign, _)| self.take(*sign))
            .map(|(_, operator)| *operator)
    }

    fn take(&mut self, sign: char) -> bool {
        self.space();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len_utf8();
        }
        found
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, expected: &'static str) -> ExpressionError {
        ExpressionError::Expected {
            expected,
            at: self.text[..self.at].chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let columns = Columns::from([
            ("r".to_owned(), Column(vec![1.0, 2.0, 6.0])),
            ("two words".to_owned(), Column(vec![4.0])),
            ("none".to_owned(), Column(vec![])),
        ]);
        let figures = BTreeMap::from([("total_power".to_owned(), 2.0)]);
        Expression::parse(text).unwrap().value(&columns, &figures)
    }

    #[test]
    fn arithmetic_binds_as_it_does_on_paper() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), Some(5.0));
        assert_eq!(value("-2 ^ 2 + (1 - 3) * -1"), Some(-2.0));
        assert_eq!(value("2 ^ 3 ^ 2"), Some(512.0));
        assert_eq!(value("1.5e-1 * 2"), Some(0.3));
    }

    #[test]
    fn columns_and_figures_are_known_by_name() {
        assert_eq!(value("mean(r) / total_power"), Some(1.5));
        assert_eq!(
            value("median(r) + last(r) + first(r) + count(r)"),
            Some(12.0)
        );
        assert_eq!(value("max(r) - min(r) + sum('two words')"), Some(9.0));
        assert_eq!(value("std(r)"), Some(7.0_f64.sqrt()));
    }

    #[test]
    fn what_is_not_known_or_not_finite_has_no_value() {
        assert_eq!(value("mean(none)"), None);
        assert_eq!(value("mean(absent)"), None);
        assert_eq!(value("unheard_of + 1"), None);
        assert_eq!(value("1 / 0"), None);
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for text in [
            "",
            "1 +",
            "mean(",
            "mean()",
            "exec('x')",
            "1 2",
            "a b",
            "'x",
            "mean(r",
            "1e999",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
        let error = Expression::parse("1 + * 2").unwrap_err().to_string();
        assert!(error.contains("character 5"), "{error}");
        assert_eq!(
            Expression::parse(&"(".repeat(200)),
            Err(ExpressionError::TooDeep)
        );
        assert_eq!(
            Expression::parse(&"1^".repeat(200)),
            Err(ExpressionError::TooDeep)
        );
        assert!(Expression::parse(&"-".repeat(900)).is_err());
        assert_eq!(
            Expression::parse(&"1".repeat(2000)),
            Err(ExpressionError::TooLong)
        );
    }
}
