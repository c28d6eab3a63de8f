use std::fmt::Write as _;

use crate::text::escape;

/// Why a command ends without doing its job, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    error: anyhow::Error,
    advice: Option<String>,
    pub(crate) code: u8,
}

impl Failure {
    #[must_use]
    pub(crate) fn new(error: impl Into<anyhow::Error>) -> Self {
        Self {
            error: error.into(),
            advice: None,
            code: crate::cli::exit::FAILED,
        }
    }

    /// The same failure, with what to try next.
    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The same failure as the cause of a wider one.
    #[must_use]
    pub(crate) fn within(mut self, wider: impl Into<String>) -> Self {
        self.error = self.error.context(wider.into());
        self
    }

    /// The failure and its causes in one line.
    #[must_use]
    pub(crate) fn line(&self) -> String {
        format!("{:#}", self.error)
    }

    /// The same failure, ending the program with another exit code.
    #[must_use]
    pub(crate) fn exit_with(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Whether the reader of our output has gone away, as `head` does.
    #[must_use]
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }

    /// `error: ...`, `because: ...` for each cause, `try: ...`; nothing in it can steer a terminal.
    #[must_use]
    pub(crate) fn report(&self) -> String {
        let mut text = format!("error: {}\n", escape::terminal(&self.error.to_string()));
        for cause in self.error.chain().skip(1) {
            let _ = writeln!(text, "because: {}", escape::terminal(&cause.to_string()));
        }
        if let Some(advice) = &self.advice {
            let _ = writeln!(text, "try: {}", escape::terminal(advice));
        }
        text
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

/// Adds what to try next to any error on its way to the user.
pub(crate) trait Advise<T> {
    fn advise(self, advice: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Advise<T> for Result<T, E> {
    fn advise(self, advice: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| error.into().advise(advice))
    }
}
