//! Power limits of processors, as powercap shows them. They are only read.

use std::path::Path;

use crate::meter::Roots;
use crate::meter::sensor::kernel_file::line;
use crate::meter::sensor::rapl;
use crate::model::Component;
use crate::units::Watts;

/// No zone has so many.
const MOST_CONSTRAINTS: usize = 8;

/// A limit of one processor package over one window of time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackageLimit {
    pub(crate) component: Component,
    /// The folder of the zone.
    pub(crate) zone: String,
    /// What the driver calls it, such as `long_term`.
    pub(crate) name: String,
    /// The limit, where it can be read.
    pub(crate) limit: Option<Watts>,
    /// The most that the limit may be; many drivers do not say.
    pub(crate) most: Option<Watts>,
    /// Whether the limits of this zone are in force, where the driver says so.
    pub(crate) is_enabled: Option<bool>,
}

/// The limits of every package, in the order of their zones.
pub(crate) fn package_limits(roots: &Roots) -> Vec<PackageLimit> {
    let domains = rapl::domains(roots);
    let packages = domains
        .iter()
        .filter(|domain| matches!(domain.component, Component::Package(_)));
    let mut limits = Vec::new();
    for package in packages {
        let zone = &package.path;
        let is_enabled = number(&zone.join("enabled")).map(|enabled| enabled != 0);
        for constraint in 0..MOST_CONSTRAINTS {
            let file = |what: &str| zone.join(format!("constraint_{constraint}_{what}"));
            let Some(name) = line(&file("name")) else {
                continue;
            };
            limits.push(PackageLimit {
                component: package.component.clone(),
                zone: zone.display().to_string(),
                name,
                limit: watts(&file("power_limit_uw")),
                // Drivers write 0 where they do not know it.
                most: watts(&file("max_power_uw")).filter(|most| most.get() > 0.0),
                is_enabled,
            });
        }
    }
    limits
}

fn number(path: &Path) -> Option<u64> {
    line(path)?.parse().ok()
}

fn watts(path: &Path) -> Option<Watts> {
    Watts::new(number(path)? as f64 / 1e6).ok()
}
