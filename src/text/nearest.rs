//! Suggestions for misspelt names.

use std::fmt::Display;

/// Longer texts are cut, because the time of a comparison grows with the product of the lengths.
const LONGEST: usize = 64;
/// Names that are less similar than this are not suggested.
const LEAST: f64 = 0.6;
/// Names that are less similar than the most similar one by more than this are not suggested with it.
const RANGE: f64 = 0.1;
/// The weight of a match with the beginning of a name, and how long it must be.
const PREFIX_WEIGHT: f64 = 0.8;
const SHORTEST_PREFIX: usize = 3;
/// The weight of an error if all letters are right and only their order is wrong.
const ORDER_WEIGHT: f64 = 0.5;
const MOST: usize = 3;

/// The most similar names, the best first and equals in the order given. A name has one or more spellings,
/// of which the most similar counts.
pub(crate) fn among<N, S>(asked: &str, known: impl IntoIterator<Item = (N, S)>) -> Vec<N>
where
    S: IntoIterator<Item: AsRef<str>>,
{
    let asked = short(asked.trim()).to_lowercase();
    let mut ranked: Vec<(f64, N)> = known
        .into_iter()
        .filter_map(|(name, spellings)| {
            let similarity = spellings
                .into_iter()
                .map(|spelling| similarity(&asked, &short(spelling.as_ref()).to_lowercase()))
                .fold(0.0, f64::max);
            (similarity >= LEAST).then_some((similarity, name))
        })
        .collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = ranked.first().map_or(0.0, |(similarity, _)| *similarity);
    ranked
        .into_iter()
        .take_while(|(similarity, _)| best - similarity <= RANGE)
        .take(MOST)
        .map(|(_, name)| name)
        .collect()
}

/// The most similar names, each with one spelling.
pub(crate) fn of<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    among(asked, known.into_iter().map(|name| (name, [name])))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The end of a sentence about an unknown name: `; the nearest is energy`.
pub(crate) fn said(names: &[impl Display]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; the nearest is {one}"),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("; the nearest are {}", names.join(", "))
        }
    }
}

/// The number of letters that are wrong, missing, superfluous or swapped.
pub(crate) fn slips(asked: &str, known: &str) -> usize {
    strsim::damerau_levenshtein(asked, known)
}

/// The part of a text that is compared and shown.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// 1 for the same name, 0 for nothing in common.
fn similarity(asked: &str, known: &str) -> f64 {
    let share = |known: &str| {
        let longer = asked.chars().count().max(known.chars().count());
        let weight = if letters(asked) == letters(known) {
            ORDER_WEIGHT
        } else {
            1.0
        };
        1.0 - weight * slips(asked, known) as f64 / longer.max(1) as f64
    };
    let length = asked.chars().count();
    let beginning: String = known.chars().take(length).collect();
    if length < SHORTEST_PREFIX || beginning.len() == known.len() {
        return share(known);
    }
    share(known).max(PREFIX_WEIGHT * share(&beginning))
}

fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_right_one() {
        let known = ["energy", "memory", "time", "zone", "zones"];
        for (asked, meant) in [
            ("enrgy", "energy"),
            ("ENERYG", "energy"),
            (" zoen", "zone"),
            ("tiem", "time"),
        ] {
            assert_eq!(of(asked, known), [meant], "{asked}");
        }
    }

    #[test]
    fn letters_in_the_wrong_order_count_less_than_wrong_letters() {
        assert_eq!(of("uas", ["uae", "usa", "fas"]), ["usa"]);
    }

    #[test]
    fn the_beginning_of_a_name_is_enough() {
        assert_eq!(of("mem", ["energy", "memory"]), ["memory"]);
        assert_eq!(of("m", ["energy", "memory"]), [""; 0]);
    }

    #[test]
    fn a_name_that_resembles_none_gets_no_suggestion() {
        for asked in ["", "quux", "x", "post-processing"] {
            assert_eq!(of(asked, ["pue", "zone", "price"]), [""; 0], "{asked}");
        }
    }

    #[test]
    fn the_most_similar_spelling_counts_and_equals_keep_their_order() {
        let known = [
            ("b", vec!["beta", "second"]),
            ("a", vec!["secund", "alpha"]),
            ("c", vec![]),
        ];
        assert_eq!(among("secnd", known), ["b", "a"]);
    }

    #[test]
    fn a_very_long_text_is_compared_quickly() {
        assert_eq!(of(&"x".repeat(10_000_000), ["zone"]), [""; 0]);
    }

    #[test]
    fn a_sentence_names_one_or_several_suggestions_or_none() {
        assert_eq!(said(&["a"]), "; the nearest is a");
        assert_eq!(said(&["a", "b"]), "; the nearest are a, b");
        assert_eq!(said(&[""; 0]), "");
    }
}
