use serde::{Deserialize, Serialize};

/// Why the boards of a driver cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum DriverError {
    #[error("this build has no NVML support")]
    NotBuilt,
    /// In the words of its library.
    #[error("{0}")]
    Library(String),
    #[error("the library of the driver has crashed")]
    Crashed,
    #[error("the driver did not answer within {seconds} s")]
    NoAnswer { seconds: u64 },
    #[error("the driver did not answer before the run had ended")]
    NoneBeforeTheEnd,
}

#[cfg(feature = "nvml")]
impl DriverError {
    /// An error of the library.
    pub(crate) fn of(error: impl std::fmt::Display) -> Self {
        Self::Library(error.to_string())
    }
}

/// Why the energy of a board cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum MeterError {
    #[error("it is a part of the processor and metered with it")]
    PartOfTheProcessor,
    #[error("the board was not found")]
    NotFound,
    #[error("no energy or power file")]
    NoFile,
    /// In the words of the driver or the kernel.
    #[error("{0}")]
    Unreadable(String),
}

/// Why the run's part of a board's work is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum ShareError {
    #[error("its driver does not say who uses it")]
    UsersUnknown,
    #[error("the run has it open and its driver does not say who else works on it")]
    WorkUnknown,
    #[error("the run has it open and processes of others cannot be seen")]
    OthersHidden,
    #[error("the kernel does not see the work of ROCm's queues")]
    RocmQueues,
    #[error("its driver names processes as the host does, which a container cannot see")]
    HostProcessIds,
}
