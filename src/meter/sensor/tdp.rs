//! An estimate from design power and load, for processors and GPU boards without a sensor.

use std::io;
use std::time::{Duration, Instant};

use super::machine_cpu_time::MachineCpuTime;
use super::{PowerSource, Processor, ReadError, Reading, Sensor, Wraps};
use crate::grid::data::device::Kind;
use crate::model::{Component, Method};
use crate::units::Watts;

/// Power of an idle processor, as a part of its design power.
const IDLE_PART: f64 = 0.3;
/// Power of an idle GPU board, as a part of its design power.
const IDLE_PART_OF_BOARDS: f64 = 0.1;

/// The full-load power assumed for a machine, and the model in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DesignPower {
    pub(crate) watts: f64,
    pub(crate) model: String,
}

impl DesignPower {
    pub(crate) fn of(processor: &Processor) -> Self {
        if let Some(watts) = processor.stated_watts {
            let watts = f64::from(watts);
            return Self {
                watts,
                model: model("design power as stated", watts, IDLE_PART),
            };
        }
        let part = processor.class.core();
        let core = part.power();
        let watts_per_core = core.watts.get();
        let by_core = watts_per_core * f64::from(processor.cores);
        let known = processor
            .brand
            .as_deref()
            .and_then(|brand| Some((brand, Kind::Cpu.find_one(brand)?)));
        let Some((brand, device)) = known else {
            let (full, idle) = (by_core, by_core * IDLE_PART);
            let bounds = core.bounds.map_or_else(String::new, |(least, most)| {
                let of_all = |watts: Watts| watts.get() * f64::from(processor.cores);
                format!(
                    ", {:.0} to {:.0} W are possible",
                    of_all(least),
                    of_all(most)
                )
            });
            return Self {
                watts: by_core,
                model: format!(
                    "unknown CPU, assumed {full:.0} W at full load, {idle:.0} W idle \
                     ({watts_per_core} W a {}{bounds})",
                    part.name()
                ),
            };
        };
        let (name, tdp) = (device.name, device.watts.get());
        let (watts, basis) = match visible_share(processor, brand) {
            Some(share) if share < 1.0 => (
                tdp * share,
                format!("{:.0} % of the {tdp} W TDP of {name}", share * 100.0),
            ),
            None if by_core < tdp => (
                by_core,
                format!(
                    "{watts_per_core} W for each of {} virtual cores of {name}",
                    processor.cores
                ),
            ),
            _ => (
                tdp * f64::from(processor.sockets),
                format!("{} x the {tdp} W TDP of {name}", processor.sockets),
            ),
        };
        Self {
            watts,
            model: model(&basis, watts, IDLE_PART),
        }
    }
}

/// The model in words.
fn model(basis: &str, watts: f64, idle_part: f64) -> String {
    let idle = watts * idle_part;
    format!("{basis}: {watts:.0} W at full load, {idle:.0} W idle")
}

/// The power of an accelerator board by its load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoardPower {
    pub(crate) model: String,
    watts: f64,
}

impl BoardPower {
    /// Of the board that the driver calls by this name, as the user states it or if the table has it.
    pub(crate) fn of(name: &str, stated_w: Option<u32>) -> Option<Self> {
        if let Some(watts) = stated_w.map(f64::from) {
            let model = model("design power as stated", watts, IDLE_PART_OF_BOARDS);
            return Some(Self { model, watts });
        }
        let device = Kind::Gpu.find_one(name)?;
        let watts = device.watts.get();
        Some(Self {
            model: model(
                &format!("the {watts} W TDP of {}", device.name),
                watts,
                IDLE_PART_OF_BOARDS,
            ),
            watts,
        })
    }

    /// The power when the board works this part of the time.
    pub(crate) fn at(&self, load: f64) -> Watts {
        let part = IDLE_PART_OF_BOARDS + (1.0 - IDLE_PART_OF_BOARDS) * load.clamp(0.0, 1.0);
        Watts::new(self.watts * part).expect("a part of a known power is a power")
    }
}

/// The part of the processor that a virtual machine has; none if the processor's size is not known.
fn visible_share(processor: &Processor, brand: &str) -> Option<f64> {
    if !processor.virtual_machine {
        return Some(1.0);
    }
    let cores: f64 = brand
        .split(' ')
        .find_map(|word| word.strip_suffix("-Core"))?
        .parse()
        .ok()?;
    Some((f64::from(processor.threads) / (2.0 * cores)).min(1.0))
}

/// A counter that rises with time and with the machine's CPU time.
#[derive(Debug)]
struct LoadModel {
    clock: MachineCpuTime,
    watts: f64,
    started: Instant,
    busy_at_start: Duration,
    threads: f64,
}

/// The estimated energy of all processors.
pub(crate) fn sensor(processor: &Processor, clock: MachineCpuTime) -> io::Result<Sensor> {
    let power = DesignPower::of(processor);
    let busy_at_start = clock.read()?;
    Ok(Sensor {
        component: Component::Cpu,
        method: Method::Estimated { model: power.model },
        place: clock.path().display().to_string(),
        first: Reading::Counter {
            microjoules: 0,
            wraps: Wraps::Never,
        },
        source: Box::new(LoadModel {
            clock,
            watts: power.watts,
            started: Instant::now(),
            busy_at_start,
            threads: f64::from(processor.threads),
        }),
    })
}

impl PowerSource for LoadModel {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let busy = self
            .clock
            .read()
            .map_err(|error| ReadError::Again(error.to_string()))?;
        let busy = busy.saturating_sub(self.busy_at_start);
        Ok(Reading::Counter {
            microjoules: modelled(self.watts, self.started.elapsed(), busy, self.threads),
            wraps: Wraps::Never,
        })
    }
}

fn modelled(watts: f64, elapsed: Duration, busy: Duration, threads: f64) -> u64 {
    let at_full_load = (busy.as_secs_f64() / threads).min(elapsed.as_secs_f64());
    let seconds = IDLE_PART * elapsed.as_secs_f64() + (1.0 - IDLE_PART) * at_full_load;
    (watts * seconds * 1e6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::sensor::processor::MachineClass;

    fn machine(brand: Option<&str>) -> Processor {
        Processor {
            brand: brand.map(str::to_owned),
            sockets: 2,
            cores: 16,
            threads: 32,
            ..Processor::default()
        }
    }

    #[test]
    fn a_known_processor_has_its_design_power_on_each_socket() {
        let power = DesignPower::of(&machine(Some("Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz")));
        assert_eq!(power.watts, 170.0);
        assert!(
            power.model.contains("Intel Xeon E5-2630 v3"),
            "{}",
            power.model
        );
    }

    #[test]
    fn an_unknown_processor_gets_a_stated_default_for_each_core() {
        let power = DesignPower::of(&machine(Some("Quantum Abacus")));
        assert!((power.watts - 16.0 * 11.4).abs() < 1e-9);
        assert!(
            power
                .model
                .starts_with("unknown CPU, assumed 182 W at full load, 55 W idle"),
            "{}",
            power.model
        );
    }

    #[test]
    fn a_core_of_a_small_board_draws_less_and_a_stated_power_is_used() {
        let board = Processor {
            class: MachineClass::Board,
            cores: 4,
            ..machine(None)
        };
        assert_eq!(DesignPower::of(&board).watts, 6.0);
        let stated = Processor {
            stated_watts: Some(65),
            ..board
        };
        assert_eq!(DesignPower::of(&stated).watts, 65.0);
    }

    #[test]
    fn a_virtual_machine_is_charged_for_the_threads_it_sees() {
        let power = DesignPower::of(&Processor {
            sockets: 1,
            cores: 4,
            threads: 8,
            virtual_machine: true,
            ..machine(Some("AMD EPYC 7763 64-Core Processor"))
        });
        assert_eq!(power.watts, 280.0 * 8.0 / 128.0);
    }

    #[test]
    fn full_load_draws_the_design_power_and_rest_the_idle_part() {
        let second = Duration::from_secs(1);
        assert_eq!(modelled(100.0, second, second * 4, 4.0), 100_000_000);
        assert_eq!(modelled(100.0, second, Duration::ZERO, 4.0), 30_000_000);
    }

    #[test]
    fn a_board_at_rest_draws_its_idle_part() {
        let power = BoardPower::of("NVIDIA A100-SXM4-40GB", None).unwrap();
        assert_eq!(power.at(0.0).get(), 40.0);
        assert!((power.at(0.5).get() - 220.0).abs() < 1e-9);
        assert!(
            power.model.contains("400 W TDP of A100 SXM4 40 GB"),
            "{}",
            power.model
        );
    }
}
