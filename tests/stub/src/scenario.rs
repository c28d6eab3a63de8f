use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls of this process so far.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// What the boards and the processes on them do right now.
#[derive(Debug, Default)]
pub(crate) struct Scenario {
    pub(crate) boards: Vec<Board>,
    processes: Vec<Board>,
    faults: Vec<Board>,
}

/// One line of the scenario: a board, or a process on one.
#[derive(Debug, Clone)]
pub(crate) struct Board(HashMap<String, String>);

impl Scenario {
    pub(crate) fn now() -> Self {
        let text = std::env::var_os("IMPACT_STUB_SCENARIO")
            .and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default();
        let mut scenario = Self::default();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let pairs = rest.split(' ').filter_map(|pair| pair.split_once('='));
            let entry = Board(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
            match kind {
                "board" => scenario.boards.push(entry),
                "process" => scenario.processes.push(entry),
                "fault" => scenario.faults.push(entry),
                _ => {}
            }
        }
        scenario
    }

    pub(crate) fn processes_on(&self, board: usize) -> impl Iterator<Item = &Board> {
        self.processes
            .iter()
            .filter(move |process| process.number("board").unwrap_or(0.0) as usize == board)
    }
}

/// Writes down a call, and hangs or crashes if the scenario has a fault for this function.
pub(crate) fn called(call: &str) {
    write_down(call);
    let scenario = Scenario::now();
    let earlier = CALLS.fetch_add(1, Ordering::Relaxed);
    let is_of_call = |fault: &&Board| {
        let is_of_process = match fault.text("process") {
            Some(name) => own_name() == name,
            None => true,
        };
        is_of_process
            && match fault.number("after") {
                Some(calls) => calls as usize == earlier,
                None => fault.text("call").as_deref() == Some(call),
            }
    };
    let kind = scenario
        .faults
        .iter()
        .find(is_of_call)
        .and_then(|fault| fault.text("kind"));
    match kind.as_deref() {
        Some("hang") => loop {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        },
        // SAFETY: it is not: this is what a broken driver does.
        // Nothing of the process runs at an abort, as at SIGKILL.
        Some("kill") => std::process::abort(),
        Some("crash") => unsafe { std::ptr::null_mut::<u8>().write_volatile(1) },
        _ => {}
    }
}

/// The name that the process has given itself.
fn own_name() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    name.trim_end().to_owned()
}

/// Appends a call to the file that `IMPACT_STUB_CALLS` names.
fn write_down(call: &str) {
    if let Some(path) = std::env::var_os("IMPACT_STUB_CALLS") {
        let file = OpenOptions::new().append(true).create(true).open(path);
        writeln!(file.expect("a file for calls"), "{call}").expect("room for a call");
    }
}

impl Board {
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key)?.parse().ok()
    }

    pub(crate) fn milliwatts(&self, key: &str) -> Option<u32> {
        Some((self.number(key)? * 1000.0) as u32)
    }

    /// The power limit: what was set last, else that of the scenario.
    pub(crate) fn limit(&self) -> Option<u32> {
        let set = self.limit_file();
        let set = set.and_then(|path| std::fs::read_to_string(path).ok());
        match set {
            Some(text) => Some(text.parse().expect("a number of milliwatts")),
            None => self.milliwatts("limit"),
        }
    }

    /// Keeps a limit for all processes. The file is never half written, however the process ends.
    pub(crate) fn keep_limit(&self, milliwatts: u32) {
        let path = self.limit_file().expect("a folder for limits");
        let new = path.with_extension(std::process::id().to_string());
        std::fs::write(&new, milliwatts.to_string()).expect("room for a limit");
        std::fs::rename(&new, path).expect("room for a limit");
    }

    fn limit_file(&self) -> Option<std::path::PathBuf> {
        let folder = std::env::var_os("IMPACT_STUB_LIMITS")?;
        Some(std::path::Path::new(&folder).join(self.text("uuid")?))
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.0.contains_key("lost")
    }
}
