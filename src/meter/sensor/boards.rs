use super::accelerator::Accelerator;
use super::board_error::DriverError;
use super::{Roots, drm};

/// The accelerators of this machine that a program started from here would see.
#[derive(Default)]
pub(crate) struct Boards {
    pub(crate) found: Vec<Box<dyn Accelerator>>,
    /// Why NVIDIA boards cannot be read although their driver is present.
    pub(crate) missing: Option<DriverError>,
}

impl Boards {
    /// Whether there are signs of a board, so that it is worth loading a library.
    pub(crate) fn are_likely(roots: &Roots) -> bool {
        nvidia::are_likely(roots) || roots.sys("class/drm").exists()
    }

    /// Finds the boards of every driver; NVIDIA's library may be slow to load.
    pub(crate) fn of(roots: &Roots) -> Self {
        let mut boards = Self::default();
        if nvidia::are_likely(roots) {
            match nvidia::boards(roots) {
                Ok(found) => boards.found = found,
                Err(why) => boards.missing = Some(why),
            }
        }
        boards.found.extend(drm::boards(roots));
        boards
    }
}

impl std::fmt::Debug for Boards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found: Vec<_> = self.found.iter().map(|board| board.board()).collect();
        f.debug_struct("Boards")
            .field("found", &found)
            .field("missing", &self.missing)
            .finish()
    }
}

#[cfg(feature = "nvml")]
mod nvidia {
    use super::{Accelerator, DriverError, Roots};
    use crate::meter::sensor::nvml;

    pub(super) fn are_likely(roots: &Roots) -> bool {
        nvml::is_likely(roots)
    }

    pub(super) fn boards(roots: &Roots) -> Result<Vec<Box<dyn Accelerator>>, DriverError> {
        nvml::boards(roots, roots.environment.raw("CUDA_VISIBLE_DEVICES"))
    }
}

#[cfg(not(feature = "nvml"))]
mod nvidia {
    use super::{Accelerator, DriverError, Roots};

    pub(super) fn are_likely(roots: &Roots) -> bool {
        roots.nvml_lib.is_some()
    }

    pub(super) fn boards(_roots: &Roots) -> Result<Vec<Box<dyn Accelerator>>, DriverError> {
        Err(DriverError::NotBuilt)
    }
}
