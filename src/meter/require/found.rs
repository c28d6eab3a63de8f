use crate::meter::sensor::{Boards, Processor, Roots};

/// The hardware of a machine, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The name of each GPU.
    pub gpus: Vec<String>,
    /// The version of the GPU driver.
    pub driver: Option<String>,
    /// The name of the processors, as the kernel has it.
    pub cpu_brand: Option<String>,
    /// The number of cores.
    pub cores: Option<u32>,
    /// The version of the kernel.
    pub kernel: Option<String>,
}

impl Found {
    /// Reads what this machine has.
    #[must_use]
    pub fn of(roots: &Roots) -> Self {
        let processor = Processor::of(roots);
        let boards = Boards::of(roots);
        let boards: Vec<_> = boards.found.iter().map(|board| board.board()).collect();
        Self {
            gpus: boards.iter().map(|board| board.name.clone()).collect(),
            driver: boards.iter().find_map(|board| board.driver.clone()),
            cpu_brand: processor.brand,
            cores: Some(processor.cores),
            kernel: crate::files::read_text(&roots.proc("sys/kernel/osrelease"), 4096)
                .ok()
                .map(|text| text.trim().to_owned()),
        }
    }
}
