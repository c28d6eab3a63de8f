use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::model::{Component, EnergyClass, Meter, Sample};

const HEAD: &str = "elapsed_s,cpu_energy_j,dram_energy_j,gpu_energy_j,run_energy_j,\
cpus_busy,gpu_utilisation,cpu_temperature_c,gpu_temperature_c,cpu_power_w,gpu_power_w\n";

/// The time series as a table: one line a sample, energies since the start.
#[derive(Debug)]
pub(crate) struct CsvSeries {
    path: PathBuf,
    file: File,
}

impl CsvSeries {
    /// Creates the file; an existing one is not replaced.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create_new(path)?;
        file.write_all(HEAD.as_bytes())?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    pub(crate) fn discard(self) {
        let _ = std::fs::remove_file(self.path);
    }

    pub(crate) fn write(&mut self, sample: &Sample) -> io::Result<()> {
        self.file.write_all(row(sample).as_bytes())
    }
}

fn row(sample: &Sample) -> String {
    let observed = &sample.observed;
    let energy = |group| sum(&sample.energy, Some(group), |meter| meter.total_j);
    let cells = [
        Some(sample.elapsed),
        energy(EnergyClass::Cpu),
        energy(EnergyClass::Dram),
        energy(EnergyClass::Gpu),
        sum(&sample.energy, None, |meter| meter.attributed_j),
        observed.absolute_cpu_utilization,
        observed.average_gpu_estimated_utilization_absolute,
        observed.cpu_temperature,
        observed
            .per_gpu_temperature
            .values()
            .copied()
            .reduce(f64::max),
        observed.rapl_power_draw_absolute,
        observed.nvidia_draw_absolute,
    ];
    let cells = cells.map(|cell| cell.map_or_else(String::new, |value| format!("{value:.6}")));
    cells.join(",") + "\n"
}

/// The sum over the components of one class, or of all; none where there is none.
pub(crate) fn sum(
    energy: &BTreeMap<Component, Meter>,
    group: Option<EnergyClass>,
    figure: impl Fn(&Meter) -> Option<f64>,
) -> Option<f64> {
    let present = energy.keys().collect();
    energy
        .iter()
        .filter(|(component, _)| {
            let counted = component.counted_as(&present);
            counted.is_some() && (group.is_none() || counted == group)
        })
        .filter_map(|(_, meter)| figure(meter))
        .reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CpuSocket, Method};

    #[test]
    fn what_a_package_contains_is_not_added_to_it() {
        let meter = |total_j| Meter {
            total_j: Some(total_j),
            attributed_j: Some(total_j / 2.0),
            method: Method::Measured,
        };
        let sample = Sample {
            elapsed: 2.0,
            energy: BTreeMap::from([
                (Component::Package(CpuSocket::socket(0)), meter(40.0)),
                (Component::Core(CpuSocket::socket(0)), meter(30.0)),
                (Component::Dram(CpuSocket::socket(0)), meter(4.0)),
            ]),
            ..Sample::default()
        };
        assert_eq!(
            row(&sample),
            "2.000000,40.000000,4.000000,,22.000000,,,,,,\n"
        );
        assert_eq!(row(&sample).matches(',').count(), HEAD.matches(',').count());
    }
}
