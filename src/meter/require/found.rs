use crate::meter::sensor::{Boards, Processor, Roots};

/// What a machine has; nothing where it cannot be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The name of each board.
    pub gpus: Vec<String>,
    pub driver: Option<String>,
    pub cpu_brand: Option<String>,
    pub cores: Option<u32>,
    pub kernel: Option<String>,
}

impl Found {
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
            kernel: std::fs::read_to_string(roots.proc("sys/kernel/osrelease"))
                .ok()
                .map(|text| text.trim().to_owned()),
        }
    }
}
