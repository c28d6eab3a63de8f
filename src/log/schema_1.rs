//! What logs of schema 1 say in sentences, and later logs in fields of their own.

use crate::model::{Citation, Info, PueSource};

/// The text between how the region was found and who published the provider's PUE.
const PUE_BY: &str = "; PUE by ";

/// Moves facts out of sentences into the fields that later logs have for them.
pub(super) fn upgrade(info: &mut Info) {
    if info.pue.is_none() || info.pue_source.is_some() {
        return;
    }
    let how = info.region.as_mut().and_then(|region| region.how.as_mut());
    let Some(how) = how else { return };
    if let Some((found_by, publisher)) = how.rsplit_once(PUE_BY) {
        info.pue_source = Some(PueSource::Provider(Citation {
            source: publisher.to_owned(),
            year: None,
        }));
        *how = found_by.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::info::Region;

    fn upgraded(how: &str, pue_source: Option<PueSource>) -> Info {
        let mut info = Info {
            pue: "1.135".parse().ok(),
            pue_source,
            region: Some(Region {
                how: Some(how.to_owned()),
                ..Region::of("US-PJM".parse().unwrap())
            }),
            ..Info::default()
        };
        upgrade(&mut info);
        info
    }

    #[test]
    fn the_publisher_of_a_pue_is_taken_out_of_the_sentence_on_the_region() {
        let info = upgraded(
            "given: cloud region aws:us-east-1; PUE by somebody, 2022",
            None,
        );
        let Some(PueSource::Provider(citation)) = &info.pue_source else {
            panic!("{info:?}");
        };
        assert_eq!(citation.to_string(), "somebody, 2022");
        let how = info.region.unwrap().how.unwrap();
        assert_eq!(how, "given: cloud region aws:us-east-1");
    }

    #[test]
    fn a_log_that_names_the_source_of_its_pue_keeps_its_sentences() {
        let how = "the address is in A; PUE by B";
        let info = upgraded(how, Some(PueSource::User));
        assert_eq!(info.pue_source, Some(PueSource::User));
        assert_eq!(info.region.unwrap().how.unwrap(), how);
    }
}
