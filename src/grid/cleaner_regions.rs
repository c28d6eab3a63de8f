//! Cloud regions with cleaner electricity.

use super::intensity::Intensity;
use super::place_resolver::{PlaceResolver, ResolveError};
use super::zone::cloud;
use super::zone::cloud::CloudRegion;

/// A cloud region with cleaner electricity than another of the same provider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CleanerRegion {
    /// The region.
    pub region: &'static CloudRegion,
    /// Its carbon intensity.
    pub intensity: Intensity,
    /// How far it is from the other region, in whole kilometres.
    pub distance_km: f64,
    /// How much less is emitted there, from 0 to 1.
    pub saving: f64,
}

/// The cleaner regions of the same provider: those within the distance, cleanest first, or the nearest if none is.
pub fn cleaner_regions(
    here: &CloudRegion,
    within_km: f64,
    resolver: &PlaceResolver,
) -> Result<Vec<CleanerRegion>, ResolveError> {
    const MOST: usize = 5;
    let own = resolver.intensity(&here.area)?.value.get();
    let mut cleaner = Vec::new();
    for region in cloud::of_provider(&here.provider).map_err(ResolveError::Cloud)? {
        let intensity = resolver.intensity(&region.area)?;
        if intensity.value.get() < own {
            cleaner.push(CleanerRegion {
                region,
                distance_km: here.point.distance_km(region.point).round(),
                saving: 1.0 - intensity.value.get() / own,
                intensity,
            });
        }
    }
    cleaner.sort_by(|a, b| a.distance_km.total_cmp(&b.distance_km));
    let near = cleaner.partition_point(|other| other.distance_km <= within_km);
    if near > 0 {
        cleaner.truncate(near);
        let grams = |other: &CleanerRegion| other.intensity.value.get();
        cleaner.sort_by(|a, b| grams(a).total_cmp(&grams(b)));
    }
    cleaner.truncate(MOST);
    Ok(cleaner)
}
