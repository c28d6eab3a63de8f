use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Present;

/// No processor, memory or GPU board draws more than this, in W.
pub const MOST_DEVICE_WATTS: f64 = 5_000.0;

/// A part of the machine whose energy is metered or estimated by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
#[non_exhaustive]
pub enum Component {
    /// All processors together, in logs that do not list them one by one.
    Cpu,
    /// One CPU socket, or one die of it.
    Package(CpuSocket),
    /// The cores of a socket; contained in its package.
    Core(CpuSocket),
    /// What else a package contains, such as an integrated GPU.
    Uncore(CpuSocket),
    /// The memory of a socket.
    Dram(CpuSocket),
    /// The whole platform, by its own meter.
    Psys,
    /// All accelerators together, in logs that do not list them one by one.
    AllGpus,
    /// One accelerator, by its UUID.
    Gpu(String),
    /// An unknown meter: reported, not counted.
    Other(String),
}

/// Which processor: the socket, and the die where a socket has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSocket {
    /// The number of the socket.
    pub socket: u16,
    /// The number of the die, where a socket has several.
    pub die: Option<u16>,
}

impl CpuSocket {
    /// The socket as a whole.
    #[must_use]
    pub fn socket(socket: u16) -> Self {
        Self { socket, die: None }
    }
}

/// What the figures of a report are split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyClass {
    /// The processors.
    Cpu,
    /// The GPUs.
    Gpu,
    /// The memory.
    Dram,
}

impl EnergyClass {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
            Self::Dram => "memory",
        }
    }
}

impl Component {
    /// The group its energy is added to, or none where something larger contains it or it is unknown.
    ///
    /// The one place that knows what contains what (psys > package > core, uncore), so that nothing
    /// is counted twice: `present` is every component the same log has.
    #[must_use]
    pub fn counted_as(&self, present: &Present) -> Option<EnergyClass> {
        match self {
            Self::Cpu | Self::Package(_) => Some(EnergyClass::Cpu),
            Self::Core(_) => (!present.package).then_some(EnergyClass::Cpu),
            Self::Psys => (!present.package && !present.core).then_some(EnergyClass::Cpu),
            Self::Uncore(_) | Self::Other(_) => None,
            // The meter of the platform contains the memory.
            Self::Dram(_) => {
                (present.package || present.core || !present.psys).then_some(EnergyClass::Dram)
            }
            Self::AllGpus => Some(EnergyClass::Gpu),
            Self::Gpu(_) => (!present.all_gpus).then_some(EnergyClass::Gpu),
        }
    }
}

impl fmt::Display for CpuSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.die {
            None => write!(f, "{}", self.socket),
            Some(die) => write!(f, "{}-die-{die}", self.socket),
        }
    }
}

impl FromStr for CpuSocket {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.split_once("-die-") {
            None => Self::socket(text.parse()?),
            Some((socket, die)) => Self {
                socket: socket.parse()?,
                die: Some(die.parse()?),
            },
        })
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Package(unit) => write!(f, "package-{unit}"),
            Self::Core(unit) => write!(f, "core-{unit}"),
            Self::Uncore(unit) => write!(f, "uncore-{unit}"),
            Self::Dram(unit) => write!(f, "dram-{unit}"),
            Self::Psys => f.write_str("psys"),
            Self::AllGpus => f.write_str("gpu"),
            Self::Gpu(uuid) => write!(f, "gpu:{uuid}"),
            Self::Other(name) => write!(f, "other:{name}"),
        }
    }
}

/// A name this version does not know is a component this version does not add up.
impl From<&str> for Component {
    fn from(name: &str) -> Self {
        let unit = |prefix: &str| -> Option<CpuSocket> { name.strip_prefix(prefix)?.parse().ok() };
        match name {
            "cpu" => Self::Cpu,
            "psys" => Self::Psys,
            "gpu" => Self::AllGpus,
            _ => unit("package-")
                .map(Self::Package)
                .or_else(|| unit("core-").map(Self::Core))
                .or_else(|| unit("uncore-").map(Self::Uncore))
                .or_else(|| unit("dram-").map(Self::Dram))
                .or_else(|| {
                    name.strip_prefix("gpu:")
                        .map(|uuid| Self::Gpu(uuid.to_owned()))
                })
                .unwrap_or_else(|| {
                    Self::Other(name.strip_prefix("other:").unwrap_or(name).to_owned())
                }),
        }
    }
}

impl From<String> for Component {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<Component> for String {
    fn from(component: Component) -> Self {
        component.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_the_component_they_were_made_from() {
        let die = CpuSocket {
            socket: 1,
            die: Some(2),
        };
        for component in [
            Component::Cpu,
            Component::Package(CpuSocket::socket(0)),
            Component::Package(die),
            Component::Core(CpuSocket::socket(3)),
            Component::Uncore(CpuSocket::socket(0)),
            Component::Dram(die),
            Component::Psys,
            Component::AllGpus,
            Component::Gpu("GPU-1a".into()),
            Component::Other("npu".into()),
        ] {
            assert_eq!(Component::from(component.to_string()), component);
        }
    }

    #[test]
    fn what_a_larger_meter_contains_is_not_counted_again() {
        let package = Component::Package(CpuSocket::socket(0));
        let core = Component::Core(CpuSocket::socket(0));
        let psys = Component::Psys;
        let all = Present::from_iter([&package, &core, &psys]);
        assert_eq!(package.counted_as(&all), Some(EnergyClass::Cpu));
        assert_eq!(core.counted_as(&all), None);
        assert_eq!(psys.counted_as(&all), None);
        assert_eq!(
            core.counted_as(&Present::from_iter([&core, &psys])),
            Some(EnergyClass::Cpu)
        );
        let memory = Component::Dram(CpuSocket::socket(0));
        assert_eq!(memory.counted_as(&all), Some(EnergyClass::Dram));
        let platform = Present::from_iter([&psys, &memory]);
        assert_eq!(memory.counted_as(&platform), None);
        assert_eq!(
            psys.counted_as(&Present::from_iter([&psys])),
            Some(EnergyClass::Cpu)
        );
    }
}
