//! AMD and Intel boards, read from the energy, power and load files of their kernel drivers.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::accelerator::{Accelerator, Board, BoardReadings, POWER_PERIOD_S, visible};
use super::board_error::{MeterError, ShareError};
use super::drm_clients::{BoardUse, DrmClients, RunWork};
use super::kernel_file::line;
use super::latest_reading::LatestReading;
use super::{KernelFile, PowerSource, ReadError, Reading, Roots, Sensor, Share, Wraps};
use crate::model::{Component, Method};
use crate::units::Watts;

const NVIDIA: &str = "0x10de";
const AMD: &str = "0x1002";
const INTEL: &str = "0x8086";
/// The variables by which a program is kept from seeing boards, by vendor.
const VISIBLE_DEVICES: [(&str, &str); 3] = [
    (AMD, "ROCR_VISIBLE_DEVICES"),
    (AMD, "HIP_VISIBLE_DEVICES"),
    (INTEL, "ZE_AFFINITY_MASK"),
];

/// A graphics card with a hardware monitor.
#[derive(Debug)]
struct Card {
    device: PathBuf,
    monitor: PathBuf,
    uuid: String,
    vendor: Option<String>,
    /// Who has it open; none if its address on the PCI bus is not known.
    clients: Option<DrmClients>,
    /// When its clients were last read.
    read_at: Instant,
    /// The run's part when its processes could last be seen.
    last_share: Option<Share>,
    /// The power, if its sensor reads that.
    latest_w: LatestReading,
}

/// Every card whose driver has an energy or power file, in the order of their numbers.
pub(crate) fn boards(roots: &Roots) -> Vec<Box<dyn Accelerator>> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(roots.sys("class/drm"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_card(path))
        .collect();
    folders.sort();
    let mut cards: Vec<Card> = folders
        .iter()
        .filter_map(|folder| Card::of(&folder.join("device"), roots.processes()))
        .collect();
    for (vendor, variable) in VISIBLE_DEVICES {
        if let Some(list) = roots.environment.raw(variable) {
            cards = only_visible(cards, vendor, list);
        }
    }
    let boxed = |card| Box::new(card) as Box<dyn Accelerator>;
    cards.into_iter().map(boxed).collect()
}

/// The cards without those of a vendor that a list does not name.
fn only_visible(cards: Vec<Card>, vendor: &str, list: &str) -> Vec<Card> {
    // Intel names parts of a board by a point: 0.1 is the second tile of the first board.
    let entries = list.split(',').map(str::trim);
    let whole = entries.map(|entry| entry.split('.').next().unwrap_or_default());
    let list = whole.collect::<Vec<_>>().join(",");
    let is_of_vendor = |card: &Card| card.vendor.as_deref() == Some(vendor);
    let ids = |card: &Card| vec![format!("GPU-{}", card.uuid), card.uuid.clone()];
    let all: Vec<_> = cards
        .iter()
        .filter(|card| is_of_vendor(card))
        .map(ids)
        .collect();
    let mut seen = visible(&list, &all).into_iter();
    cards
        .into_iter()
        .filter(|card| !is_of_vendor(card) || seen.next().unwrap_or(false))
        .collect()
}

/// `card0`, but not `card0-HDMI-A-1`.
fn is_card(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str()?.strip_prefix("card"))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

impl Card {
    fn of(device: &Path, processes: &Path) -> Option<Self> {
        let vendor = line(&device.join("vendor"));
        if vendor.as_deref() == Some(NVIDIA) {
            return None;
        }
        let monitor = std::fs::read_dir(device.join("hwmon"))
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .find(|monitor| METERS.iter().any(|(file, _)| monitor.join(file).exists()))?;
        let address = || {
            Some(
                device
                    .canonicalize()
                    .ok()?
                    .file_name()?
                    .to_str()?
                    .to_owned(),
            )
        };
        let address = address();
        let uuid = line(&device.join("unique_id")).or_else(|| address.clone())?;
        Some(Self {
            vendor,
            // Such as 0000:03:00.0.
            clients: address
                .filter(|address| address.contains(':'))
                .map(|address| {
                    let mut clients = DrmClients::of(address, processes);
                    // Looking at all processes takes some milliseconds, which the start of a job has not.
                    clients.read(&[], Instant::now());
                    clients
                }),
            read_at: Instant::now(),
            last_share: None,
            latest_w: LatestReading::default(),
            device: device.to_owned(),
            monitor,
            uuid,
        })
    }

    /// The run's part of the work since the last call, by the time on the board's engines.
    fn share_at(&mut self, processes: &[u32], now: Instant) -> Result<Share, ShareError> {
        let interval = now.saturating_duration_since(self.read_at);
        self.read_at = now;
        let unknown = ShareError::UsersUnknown;
        let clients = self.clients.as_mut().ok_or(unknown)?;
        let Some(used) = clients.read(processes, now) else {
            // Processes that have ended cannot be seen any more.
            return self.last_share.ok_or(unknown);
        };
        self.last_share = None;
        let share = self.part_of(&used, interval)?;
        self.last_share = Some(share);
        Ok(share)
    }

    fn part_of(&self, used: &BoardUse, interval: Duration) -> Result<Share, ShareError> {
        let run = match used.run {
            RunWork::NotOpen => return Ok(Share::Of(0.0)),
            RunWork::NotCounted => return Err(ShareError::WorkUnknown),
            RunWork::Counted(run) => run,
        };
        if used.has_own_queues {
            return Err(ShareError::RocmQueues);
        }
        let (run, seen) = (run as f64, run as f64 + used.others as f64);
        if !used.are_some_hidden {
            return Ok(Share::of(run, seen));
        }
        let busy = self.busy_part().filter(|_| used.is_in_time);
        let busy = busy.ok_or(ShareError::OthersHidden)?;
        Ok(Share::of(run, seen.max(busy * interval.as_nanos() as f64)))
    }

    /// The part of the time that the board is busy.
    fn busy_part(&self) -> Option<f64> {
        number(&self.device.join("gpu_busy_percent")).map(|percent| percent / 100.0)
    }

    /// Whether this is a GPU inside a processor, whose power file shows the whole chip.
    ///
    /// Only those have a northbridge voltage.
    fn is_part_of_the_processor(&self) -> bool {
        line(&self.monitor.join("in1_label")).as_deref() == Some("vddnb")
    }
}

fn number(file: &Path) -> Option<f64> {
    line(file)?.parse().ok()
}

/// The energy and power files of a board, best first.
const METERS: [(&str, Kind); 3] = [
    ("energy1_input", Kind::Microjoules),
    ("power1_average", Kind::Microwatts),
    ("power1_input", Kind::Microwatts),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Microjoules,
    Microwatts,
}

#[derive(Debug)]
struct CardMeter {
    file: KernelFile,
    kind: Kind,
    latest_w: LatestReading,
}

impl Accelerator for Card {
    fn board(&self) -> Board {
        let model = line(&self.device.join("device")).unwrap_or_default();
        Board {
            uuid: self.uuid.clone(),
            name: line(&self.device.join("product_name"))
                .unwrap_or_else(|| format!("graphics card {model}").trim_end().to_owned()),
            memory_bytes: number(&self.device.join("mem_info_vram_total"))
                .map(|bytes| bytes as u64),
            power_limit_w: number(&self.monitor.join("power1_cap"))
                .map(|microwatts| microwatts / 1e6),
            driver: line(&self.monitor.join("name")),
        }
    }

    fn sensor(&self) -> Result<Sensor, MeterError> {
        if self.is_part_of_the_processor() {
            return Err(MeterError::PartOfTheProcessor);
        }
        let mut why = MeterError::NoFile;
        for (name, kind) in METERS {
            let path = self.monitor.join(name);
            match CardMeter::open(&path, kind, self.latest_w.clone()) {
                Ok((meter, first)) => {
                    return Ok(Sensor {
                        component: Component::Gpu(self.uuid.clone()),
                        method: match kind {
                            Kind::Microjoules => Method::Measured,
                            Kind::Microwatts => Method::Integrated {
                                period_s: Some(POWER_PERIOD_S),
                            },
                        },
                        place: format!("{} (whole board)", path.display()),
                        first,
                        source: Box::new(meter),
                    });
                }
                Err(error) if path.exists() => why = MeterError::Unreadable(error.to_string()),
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn readings(&self) -> BoardReadings {
        let power = || {
            let mut files = METERS[1..].iter();
            let microwatts = files.find_map(|(file, _)| number(&self.monitor.join(file)));
            microwatts.map(|microwatts| microwatts / 1e6)
        };
        BoardReadings {
            watts: self.latest_w.take().or_else(power),
            utilisation: self.busy_part(),
            temperature_c: number(&self.monitor.join("temp1_input"))
                .map(|millidegrees| millidegrees / 1e3),
            performance_state: None,
            memory_used: number(&self.device.join("mem_info_vram_used")).map(|bytes| bytes as u64),
            clock_mhz: number(&self.monitor.join("freq1_input")).map(|hertz| (hertz / 1e6) as u32),
        }
    }

    /// By the time on its engines; if that is not known, all of the board while the run has it open.
    fn share(&mut self, processes: &[u32]) -> Result<Share, ShareError> {
        self.share_at(processes, Instant::now())
    }
}

impl CardMeter {
    /// Opens the file and reads it once.
    fn open(path: &Path, kind: Kind, latest_w: LatestReading) -> io::Result<(Self, Reading)> {
        let file = KernelFile::open(path)?;
        let mut meter = Self {
            file,
            kind,
            latest_w,
        };
        let first = meter.read().map_err(io::Error::other)?;
        Ok((meter, first))
    }
}

impl PowerSource for CardMeter {
    fn read(&mut self) -> Result<Reading, ReadError> {
        self.latest_w.set(None);
        let value = self
            .file
            .number()
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ENODEV | libc::ENXIO | libc::EIO) => ReadError::Lost(error.to_string()),
                _ => ReadError::Again(error.to_string()),
            })?;
        Ok(match self.kind {
            Kind::Microjoules => Reading::Counter {
                microjoules: value,
                wraps: Wraps::Never,
            },
            Kind::Microwatts => {
                let watts = Watts::new(value as f64 / 1e6)
                    .map_err(|error| ReadError::Again(error.to_string()))?;
                self.latest_w.set(Some(watts.get()));
                Reading::Gauge { watts }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn card(uuid: &str, vendor: &str, processes: &Path) -> Card {
        Card {
            device: PathBuf::new(),
            monitor: PathBuf::new(),
            uuid: uuid.to_owned(),
            vendor: Some(vendor.to_owned()),
            clients: Some(DrmClients::of("0000:03:00.0".to_owned(), processes)),
            read_at: Instant::now(),
            last_share: None,
            latest_w: LatestReading::default(),
        }
    }

    #[test]
    fn only_the_boards_that_the_vendors_variable_names_are_visible() {
        let here = Path::new("/nonexistent");
        let all = || {
            vec![
                card("aa", AMD, here),
                card("bb", AMD, here),
                card("cc", INTEL, here),
            ]
        };
        let names =
            |cards: Vec<Card>| -> Vec<String> { cards.into_iter().map(|card| card.uuid).collect() };
        assert_eq!(names(only_visible(all(), AMD, "1")), ["bb", "cc"]);
        assert_eq!(names(only_visible(all(), AMD, "GPU-aa")), ["aa", "cc"]);
        assert_eq!(names(only_visible(all(), INTEL, "0.1")), ["aa", "bb", "cc"]);
        assert_eq!(names(only_visible(all(), AMD, "")), ["cc"]);
    }

    #[test]
    fn a_board_that_the_run_does_not_have_open_is_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("7/fdinfo");
        fs::create_dir_all(&open).unwrap();
        fs::write(open.join("0"), "pos:\t0\n").unwrap();
        let mut card = card("aa", AMD, folder.path());
        assert_eq!(card.share(&[7]), Ok(Share::Of(0.0)));
        fs::write(
            open.join("3"),
            "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n",
        )
        .unwrap();
        assert_eq!(card.share(&[7]), Err(ShareError::WorkUnknown));
        assert_eq!(card.share(&[8]), Err(ShareError::UsersUnknown));
    }

    /// Writes the description of an open file of the board.
    fn open(folder: &Path, file: &str, client: u32, nanoseconds: u64) {
        let (pid, number) = file.split_once('/').unwrap();
        let files = folder.join(pid).join("fdinfo");
        fs::create_dir_all(&files).unwrap();
        let text = format!(
            "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t{client}\n\
             drm-engine-gfx:\t{nanoseconds} ns\n"
        );
        fs::write(files.join(number), text).unwrap();
    }

    #[test]
    fn two_processes_share_a_board_by_their_time_on_its_engines() {
        let folder = tempfile::tempdir().unwrap();
        let open = |file: &str, client, time| open(folder.path(), file, client, time);
        let mut card = card("aa", AMD, folder.path());
        open("7/3", 1, 1_000);
        open("8/3", 2, 50_000);
        let _ = card.share(&[]);
        open("7/3", 1, 4_000);
        // The same client through another file of another process.
        open("7/4", 1, 4_000);
        open("9/3", 1, 4_000);
        open("8/3", 2, 51_000);
        assert_eq!(card.share(&[7, 9]), Ok(Share::Of(0.75)));
        assert_eq!(card.share(&[7, 9]), Ok(Share::Idle), "nobody worked");
        open("8/3", 2, 52_000);
        assert_eq!(card.share(&[7, 9]), Ok(Share::Of(0.0)));
        assert_eq!(card.share(&[10]), Ok(Share::Of(0.0)), "the run has ended");
    }

    #[test]
    fn a_board_that_the_run_opens_after_the_start_is_its_own_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut card = card("aa", AMD, folder.path());
        let _ = card.share(&[]);
        open(folder.path(), "7/3", 1, 5_000);
        assert_eq!(card.share(&[7]), Ok(Share::Of(1.0)));
    }

    #[test]
    fn where_others_cannot_be_seen_the_boards_own_load_gives_their_part() {
        let folder = tempfile::tempdir().unwrap();
        let namespace = folder.path().join("self/ns");
        fs::create_dir_all(&namespace).unwrap();
        std::os::unix::fs::symlink("pid:[4026532999]", namespace.join("pid")).unwrap();
        let mut card = card("aa", AMD, folder.path());
        card.device = folder.path().to_owned();
        let start = Instant::now();
        open(folder.path(), "7/3", 1, 0);
        let _ = card.share_at(&[], start);
        open(folder.path(), "7/3", 1, 200_000_000);
        let later = start + Duration::from_secs(1);
        assert_eq!(card.share_at(&[7], later), Err(ShareError::OthersHidden));
        fs::write(folder.path().join("gpu_busy_percent"), "80\n").unwrap();
        open(folder.path(), "7/3", 1, 400_000_000);
        let later = start + Duration::from_secs(2);
        assert_eq!(card.share_at(&[7], later), Ok(Share::Of(0.25)));
    }

    #[test]
    fn queues_that_the_kernel_does_not_see_make_the_board_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let mut card = card("aa", AMD, folder.path());
        open(folder.path(), "7/3", 1, 0);
        open(folder.path(), "7/4", 2, 0);
        fs::create_dir_all(folder.path().join("7/fd")).unwrap();
        std::os::unix::fs::symlink("/dev/kfd", folder.path().join("7/fd/4")).unwrap();
        let _ = card.share(&[]);
        assert_eq!(card.share(&[7]), Err(ShareError::RocmQueues));
    }

    #[test]
    fn an_amd_card_is_metered_by_its_power_file() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("class/drm/card0/device");
        let monitor = device.join("hwmon/hwmon3");
        fs::create_dir_all(&monitor).unwrap();
        fs::create_dir_all(folder.path().join("class/drm/card0-HDMI-A-1")).unwrap();
        fs::write(device.join("vendor"), "0x1002\n").unwrap();
        fs::write(device.join("unique_id"), "8c1f\n").unwrap();
        fs::write(device.join("gpu_busy_percent"), "37\n").unwrap();
        fs::write(monitor.join("power1_average"), "155000000\n").unwrap();
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let cards = boards(&roots);
        assert_eq!(cards.len(), 1);
        assert_eq!(cards[0].board().component().to_string(), "gpu:8c1f");
        assert_eq!(cards[0].readings().utilisation, Some(0.37));
        let sensor = cards[0].sensor().unwrap();
        let watts = Watts::new(155.0).unwrap();
        assert_eq!(sensor.first, Reading::Gauge { watts });
        fs::write(monitor.join("in1_label"), "vddnb\n").unwrap();
        assert!(cards[0].sensor().is_err());
    }
}
