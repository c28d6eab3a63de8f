/// A value of a log that can be plotted over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Gauge {
    /// W of the CPUs that are the run's.
    CpuPower,
    /// W of the GPUs that are the run's.
    GpuPower,
    /// W of the CPUs, whoever used them.
    MachineCpuPower,
    /// W of the GPUs, whoever used them.
    MachineGpuPower,
    /// Processors kept busy by the run.
    CpuUtilization,
    /// Share of the GPUs kept busy by the run, from 0 to 1.
    GpuUtilization,
    /// Bytes of memory the run holds.
    Memory,
    /// Degrees Celsius of the hottest CPU.
    CpuTemperature,
    /// Degrees Celsius of the hottest GPU.
    GpuTemperature,
    /// g CO2eq/kWh of the electricity.
    CarbonIntensity,
}

impl Gauge {
    /// Every gauge.
    pub(super) const ALL: [Self; 10] = [
        Self::CpuPower,
        Self::GpuPower,
        Self::MachineCpuPower,
        Self::MachineGpuPower,
        Self::CpuUtilization,
        Self::GpuUtilization,
        Self::Memory,
        Self::CpuTemperature,
        Self::GpuTemperature,
        Self::CarbonIntensity,
    ];
}

/// The gauges of a row that accounting has no use for; left as text until something draws them.
#[derive(Debug, Default, PartialEq)]
pub struct Gauges<'a> {
    pub(super) machine_cpu_watts: Option<&'a [u8]>,
    pub(super) machine_gpu_watts: Option<&'a [u8]>,
    pub(super) cpu_utilization: Option<&'a [u8]>,
    pub(super) memory_bytes: Option<&'a [u8]>,
    pub(super) cpu_temperature: Option<&'a [u8]>,
    /// A table: GPU -> degrees.
    pub(super) gpu_temperatures: Option<&'a [u8]>,
}

impl<'a> Gauges<'a> {
    /// Keeps the value of a field that is a gauge.
    pub(super) fn see(&mut self, name: &[u8], value: &'a [u8]) {
        let place = match name {
            b"rapl_power_draw_absolute" => &mut self.machine_cpu_watts,
            b"nvidia_draw_absolute" => &mut self.machine_gpu_watts,
            b"absolute_cpu_utilization" => &mut self.cpu_utilization,
            b"absolute_mem_usage" => &mut self.memory_bytes,
            b"cpu_temperature" => &mut self.cpu_temperature,
            b"per_gpu_temperature" => &mut self.gpu_temperatures,
            _ => return,
        };
        *place = Some(value);
    }
}
