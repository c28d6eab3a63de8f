use crate::grid::zone::ZoneId;

/// Zones and the energy identification codes of the areas ENTSO-E publishes them under.
const AREAS: &[(&str, &str)] = &[
    ("AL", "10YAL-KESH-----5"),
    ("AT", "10YAT-APG------L"),
    ("BA", "10YBA-JPCC-----D"),
    ("BE", "10YBE----------2"),
    ("BG", "10YCA-BULGARIA-R"),
    ("CH", "10YCH-SWISSGRIDZ"),
    ("CY", "10YCY-1001A0003J"),
    ("CZ", "10YCZ-CEPS-----N"),
    ("DE", "10Y1001A1001A83F"),
    ("DK", "10Y1001A1001A65H"),
    ("DK-DK1", "10YDK-1--------W"),
    ("DK-DK2", "10YDK-2--------M"),
    ("EE", "10Y1001A1001A39I"),
    ("ES", "10YES-REE------0"),
    ("FI", "10YFI-1--------U"),
    ("FR", "10YFR-RTE------C"),
    ("GB-NIR", "10Y1001A1001A016"),
    ("GE", "10Y1001A1001B012"),
    ("GR", "10YGR-HTSO-----Y"),
    ("HR", "10YHR-HEP------M"),
    ("HU", "10YHU-MAVIR----U"),
    ("IE", "10YIE-1001A00010"),
    ("IT", "10YIT-GRTN-----B"),
    ("IT-CA", "10Y1001C--00096J"),
    ("IT-CNO", "10Y1001A1001A70O"),
    ("IT-CSO", "10Y1001A1001A71M"),
    ("IT-NO", "10Y1001A1001A73I"),
    ("IT-SAR", "10Y1001A1001A74G"),
    ("IT-SIC", "10Y1001A1001A75E"),
    ("IT-SO", "10Y1001A1001A788"),
    ("LT", "10YLT-1001A0008Q"),
    ("LU", "10YLU-CEGEDEL-NQ"),
    ("LV", "10YLV-1001A00074"),
    ("MD", "10Y1001A1001A990"),
    ("ME", "10YCS-CG-TSO---S"),
    ("MK", "10YMK-MEPSO----8"),
    ("NL", "10YNL----------L"),
    ("NO", "10YNO-0--------C"),
    ("NO-NO1", "10YNO-1--------2"),
    ("NO-NO2", "10YNO-2--------T"),
    ("NO-NO3", "10YNO-3--------J"),
    ("NO-NO4", "10YNO-4--------9"),
    ("NO-NO5", "10Y1001A1001A48H"),
    ("PL", "10YPL-AREA-----S"),
    ("PT", "10YPT-REN------W"),
    ("RO", "10YRO-TEL------P"),
    ("RS", "10YCS-SERBIATSOV"),
    ("SE", "10YSE-1--------K"),
    ("SE-SE1", "10Y1001A1001A44P"),
    ("SE-SE2", "10Y1001A1001A45N"),
    ("SE-SE3", "10Y1001A1001A46L"),
    ("SE-SE4", "10Y1001A1001A47J"),
    ("SI", "10YSI-ELES-----O"),
    ("SK", "10YSK-SEPS-----K"),
    ("UA", "10Y1001C--000182"),
    ("XK", "10Y1001C--00100H"),
];

/// The area a zone is published under.
pub(super) fn area(zone: &ZoneId) -> Option<&'static str> {
    AREAS
        .iter()
        .find(|(name, _)| *name == zone.as_str())
        .map(|(_, area)| *area)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last character of a code is a checksum of the others, modulo 37.
    fn check_character(code: &str) -> char {
        let value = |c: char| match c {
            '-' => 36,
            c => c
                .to_digit(36)
                .expect("codes are digits, letters and hyphens"),
        };
        let sum: u32 = code
            .chars()
            .take(15)
            .zip((2..=16).rev())
            .map(|(c, weight)| value(c) * weight)
            .sum();
        match 36 - (sum - 1) % 37 {
            36 => '-',
            digit => char::from_digit(digit, 36)
                .expect("below 36")
                .to_ascii_uppercase(),
        }
    }

    #[test]
    fn every_code_has_the_right_check_character() {
        for (zone, code) in AREAS {
            assert_eq!(code.len(), 16, "{zone}");
            assert_eq!(code.chars().last(), Some(check_character(code)), "{zone}");
        }
    }
}
