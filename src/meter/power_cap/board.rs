#[cfg(feature = "nvml")]
pub(crate) use nvidia::{CapBoard, boards};
#[cfg(not(feature = "nvml"))]
pub(crate) use without_nvml::{CapBoard, boards};

#[cfg(feature = "nvml")]
mod nvidia {
    use nvml_wrapper::error::NvmlError;
    use nvml_wrapper::{Device, Nvml};

    use crate::meter::Roots;
    use crate::meter::power_cap::{CapError, Milliwatts};
    use crate::meter::sensor::accelerator::visible;
    use crate::meter::sensor::nvml;

    /// An NVIDIA board and its power limit.
    pub(crate) struct CapBoard {
        device: Device<'static>,
        /// Its number, as nvidia-smi shows it.
        pub(crate) index: u32,
        pub(crate) uuid: String,
        name: String,
        /// Whether a program started from here would see it.
        pub(crate) is_visible: bool,
    }

    /// All boards; the library stays loaded until the program ends.
    pub(crate) fn boards(roots: &Roots) -> Result<Vec<CapBoard>, CapError> {
        if !nvml::is_likely(roots) {
            return Err(CapError::NoBoard);
        }
        let driver = |error: NvmlError| CapError::Driver(error.to_string());
        let library = nvml::load(roots.nvml_lib.as_deref()).map_err(driver)?;
        let library: &'static Nvml = Box::leak(Box::new(library));
        let mut boards = Vec::new();
        for index in 0..library.device_count().map_err(driver)? {
            let device = library.device_by_index(index).map_err(driver)?;
            boards.push(CapBoard {
                index,
                uuid: device.uuid().map_err(driver)?,
                name: device.name().unwrap_or_else(|_| "NVIDIA board".to_owned()),
                is_visible: true,
                device,
            });
        }
        if let Some(list) = roots.environment.raw("CUDA_VISIBLE_DEVICES") {
            let ids = boards
                .iter()
                .map(|board| nvml::ids(&board.uuid, Some(&board.device)));
            let ids: Vec<_> = ids.collect();
            for (board, is_visible) in boards.iter_mut().zip(visible(list, &ids)) {
                board.is_visible = is_visible;
            }
        }
        Ok(boards)
    }

    impl CapBoard {
        /// Its number and model, for people.
        pub(crate) fn label(&self) -> String {
            format!("GPU {} ({})", self.index, self.name)
        }

        pub(crate) fn limit(&self) -> Result<Milliwatts, CapError> {
            let limit = self.device.power_management_limit();
            limit.map(Milliwatts).map_err(|error| self.error(&error))
        }

        pub(crate) fn default_limit(&self) -> Result<Milliwatts, CapError> {
            let limit = self.device.power_management_limit_default();
            limit.map(Milliwatts).map_err(|error| self.error(&error))
        }

        /// The smallest and the largest limit that it allows.
        pub(crate) fn range(&self) -> Result<(Milliwatts, Milliwatts), CapError> {
            let range = self.device.power_management_limit_constraints();
            range
                .map(|range| (Milliwatts(range.min_limit), Milliwatts(range.max_limit)))
                .map_err(|error| self.error(&error))
        }

        /// Sets its limit, and looks whether the board has taken it.
        pub(crate) fn set_limit(&mut self, limit: Milliwatts) -> Result<(), CapError> {
            let set = self.device.set_power_management_limit(limit.0);
            set.map_err(|error| self.error(&error))?;
            let shown = self.limit()?;
            if shown == limit {
                return Ok(());
            }
            Err(CapError::NotTaken {
                board: self.label(),
                cap: limit,
                shown,
            })
        }

        fn error(&self, error: &NvmlError) -> CapError {
            let board = self.label();
            match error {
                NvmlError::NoPermission => CapError::NotAllowed { board },
                NvmlError::NotSupported => CapError::NotSupported { board },
                other => CapError::Board {
                    board,
                    why: other.to_string(),
                },
            }
        }
    }
}

#[cfg(not(feature = "nvml"))]
mod without_nvml {
    use crate::meter::Roots;
    use crate::meter::power_cap::{CapError, Milliwatts};

    /// There is none in a build without NVML.
    pub(crate) struct CapBoard {
        pub(crate) index: u32,
        pub(crate) uuid: String,
        pub(crate) is_visible: bool,
        never: std::convert::Infallible,
    }

    pub(crate) fn boards(_: &Roots) -> Result<Vec<CapBoard>, CapError> {
        Err(CapError::Driver(
            "this build has no NVML support".to_owned(),
        ))
    }

    impl CapBoard {
        pub(crate) fn label(&self) -> String {
            match self.never {}
        }

        pub(crate) fn limit(&self) -> Result<Milliwatts, CapError> {
            match self.never {}
        }

        pub(crate) fn default_limit(&self) -> Result<Milliwatts, CapError> {
            match self.never {}
        }

        pub(crate) fn range(&self) -> Result<(Milliwatts, Milliwatts), CapError> {
            match self.never {}
        }

        pub(crate) fn set_limit(&mut self, _: Milliwatts) -> Result<(), CapError> {
            match self.never {}
        }
    }
}
