use crate::grid::zone::Iso3;

/// Why no social cost of carbon can be stated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCost {
    /// There is no mass to multiply.
    #[error("the mass of CO2eq is not known")]
    NoMass,
    /// The paper leaves this country out.
    #[error("the source paper has no figure for {}", .0.name())]
    NoFigure(Iso3),
    /// Neither the user nor a run names a country.
    #[error("no country was named and no run recorded where it took place")]
    NoCountry,
    /// The user names none, and the runs took place in several.
    #[error(
        "no country was named and the runs took place in several ({})",
        .0.iter().map(Iso3::as_str).collect::<Vec<_>>().join(", ")
    )]
    SeveralCountries(Vec<Iso3>),
}
