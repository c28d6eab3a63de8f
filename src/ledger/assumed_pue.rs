use crate::grid::zone::cloud;
use crate::model::Citation;
use crate::units::Pue;

/// The PUE of a run for which none is stated, and who published it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedPue {
    /// The average.
    pub pue: Pue,
    /// Who published it, and its year.
    pub citation: Citation,
}

impl AssumedPue {
    /// The newest average over data centres.
    #[must_use]
    pub fn newest() -> Self {
        let average = cloud::average_pue();
        Self {
            pue: average.pue,
            citation: Citation {
                source: average.source,
                year: Some(average.year),
            },
        }
    }

    /// The default of experiment-impact-tracker. Figures from its logs were published with it, so they keep it.
    #[must_use]
    pub fn of_legacy_logs() -> Self {
        Self {
            pue: Pue::of_experiment_impact_tracker(),
            citation: Citation {
                source:
                    "Uptime Institute, Global Data Center Survey, as in experiment-impact-tracker"
                        .to_owned(),
                year: Some(2018),
            },
        }
    }
}
