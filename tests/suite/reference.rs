//! Real logs of experiment-impact-tracker, where they are at hand: every published figure must come
//! out. The project's own fixtures cover the same cases everywhere else.

use std::path::PathBuf;

use impact::ledger::summarise::summarise;
use impact::ledger::{Assumptions, Footprint};
use impact::model::EnergyClass;
use serde_json::Value;

fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("IMPACT_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/reference"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}

#[test]
fn the_figures_of_the_original_come_out() {
    let Some(folder) = reference() else {
        eprintln!("no reference logs here; skipped");
        return;
    };
    let text = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&text).unwrap();
    let runs = expected["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 13);
    for run in runs {
        let path = folder.join(run["path"].as_str().unwrap());
        let summary = summarise(&path).unwrap();
        let footprint = Footprint::of(&summary, &Assumptions::default());
        let carbon = footprint.carbon.unwrap();
        let figures = [
            ("total_power", footprint.energy.kwh()),
            ("kw_hr_cpu", summary.energy(EnergyClass::Cpu).unwrap().kwh()),
            ("kw_hr_gpu", summary.energy(EnergyClass::Gpu).unwrap().kwh()),
            ("estimated_carbon_impact_kg", carbon.mass.kg()),
            ("exp_len_hours", summary.duration.hours()),
            ("cpu_hours", summary.cpu_time.unwrap().hours()),
            ("gpu_hours", summary.gpu_time.unwrap().hours()),
            ("average_realtime_carbon_intensity", carbon.intensity.get()),
        ];
        assert_eq!(figures.len(), run["figures"].as_object().unwrap().len());
        for (name, found) in figures {
            let wanted = run["figures"][name].as_f64().unwrap();
            let error = (found - wanted).abs() / wanted;
            assert!(
                error <= 1e-12,
                "{name} of {}: {found} is not {wanted}",
                path.display()
            );
        }
        assert_eq!(carbon.zone.unwrap().as_str(), expected["zone"]);
    }
}
