use super::bounded::bounded;

bounded!(
    /// Carbon intensity of electricity, in grams of CO2-equivalent per kWh.
    GramsPerKwh,
    "carbon intensity in g/kWh",
    3000.0,
    "it must lie between 0 and 3000 g/kWh"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intensity_above_that_of_any_fuel_is_refused() {
        assert!(GramsPerKwh::new(3000.0).is_ok());
        assert!(GramsPerKwh::new(3000.1).is_err());
    }
}
