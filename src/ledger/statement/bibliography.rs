use std::collections::BTreeSet;

use super::Statement;
use super::prose::{Paragraph, Span, paragraphs};
use crate::grid::social_cost;

/// A publication the statement refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Publication {
    /// The paper on experiment-impact-tracker.
    Henderson2020,
    /// The paper on the social cost of carbon.
    Ricke2018,
}

impl Publication {
    /// The key it is cited by.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Henderson2020 => "henderson2020towards",
            Self::Ricke2018 => social_cost::CITATION_KEY,
        }
    }

    /// Author and year, for formats without a bibliography.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::Henderson2020 => "Henderson et al. 2020",
            Self::Ricke2018 => "Ricke et al. 2018",
        }
    }

    /// Where it can be read.
    #[must_use]
    pub fn url(self) -> &'static str {
        match self {
            Self::Henderson2020 => "https://jmlr.org/papers/v21/20-312.html",
            Self::Ricke2018 => "https://doi.org/10.1038/s41558-018-0282-y",
        }
    }

    fn bibtex(self) -> &'static str {
        match self {
            Self::Henderson2020 => {
                "@article{henderson2020towards,
  author  = {Henderson, Peter and Hu, Jieru and Romoff, Joshua and Brunskill, Emma and Jurafsky, Dan and Pineau, Joelle},
  title   = {Towards the Systematic Reporting of the Energy and Carbon Footprints of Machine Learning},
  journal = {Journal of Machine Learning Research},
  year    = {2020},
  volume  = {21},
  number  = {248},
  pages   = {1--43},
}
"
            }
            Self::Ricke2018 => {
                "@article{ricke2018country,
  author  = {Ricke, Katharine and Drouet, Laurent and Caldeira, Ken and Tavoni, Massimo},
  title   = {Country-level social cost of carbon},
  journal = {Nature Climate Change},
  year    = {2018},
  volume  = {8},
  pages   = {895--900},
  doi     = {10.1038/s41558-018-0282-y},
}
"
            }
        }
    }
}

/// The BibTeX entries of everything the statement cites, and of nothing else.
#[must_use]
pub fn bibtex(statement: &Statement) -> String {
    bibtex_of(&paragraphs(statement))
}

/// The BibTeX entries of everything these paragraphs cite.
pub(super) fn bibtex_of(paragraphs: &[Paragraph]) -> String {
    let cited: BTreeSet<Publication> = paragraphs
        .iter()
        .flatten()
        .filter_map(|span| match span {
            Span::Cite(source) => Some(*source),
            _ => None,
        })
        .collect();
    let entries: Vec<&str> = cited.into_iter().map(Publication::bibtex).collect();
    entries.join("\n")
}
