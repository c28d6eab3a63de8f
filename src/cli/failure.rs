use std::fmt::Write as _;

use crate::text::escape;

/// Why a command failed, and what the user can do about it.
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

    /// Adds what to try next.
    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Makes this failure the cause of another one.
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

    /// Sets the exit code.
    #[must_use]
    pub(crate) fn exit_with(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Whether the reader of the output has closed it, as `head` does.
    #[must_use]
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }

    /// `error: ...`, `because: ...` for each cause, `try: ...`; control characters are escaped.
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

/// Adds what to try next to an error.
pub(crate) trait Advise<T> {
    fn advise(self, advice: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Advise<T> for Result<T, E> {
    fn advise(self, advice: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| error.into().advise(advice))
    }
}
