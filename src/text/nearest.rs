//! What somebody who wrote a name nobody knows may have meant.

use std::fmt::Display;

/// More of a text cannot be a name, and comparing takes the product of two lengths.
const LONGEST: usize = 64;
/// Less like than this is another name and no slip of the pen.
const FLOOR: f64 = 0.6;
/// How much less like than the likest a name may be, to be told with it.
const SLACK: f64 = 0.1;
/// What a name that only starts so counts for, and how much of it must be there.
const BEGUN: f64 = 0.8;
const SHORTEST_BEGINNING: usize = 3;
/// What a slip counts for where all letters are right and only their order is not.
const MUDDLED: f64 = 0.5;
const MOST: usize = 3;

/// The names most like what was asked for, the likest first and equals in the order given. A name comes with
/// its spellings, of which the likest counts.
pub(crate) fn among<N, S>(asked: &str, known: impl IntoIterator<Item = (N, S)>) -> Vec<N>
where
    S: IntoIterator<Item: AsRef<str>>,
{
    let asked = short(asked.trim()).to_lowercase();
    let mut ranked: Vec<(f64, N)> = known
        .into_iter()
        .filter_map(|(name, spellings)| {
            let likeness = spellings
                .into_iter()
                .map(|spelling| likeness(&asked, &short(spelling.as_ref()).to_lowercase()))
                .fold(0.0, f64::max);
            (likeness >= FLOOR).then_some((likeness, name))
        })
        .collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let likest = ranked.first().map_or(0.0, |(likeness, _)| *likeness);
    ranked
        .into_iter()
        .take_while(|(likeness, _)| likest - likeness <= SLACK)
        .take(MOST)
        .map(|(_, name)| name)
        .collect()
}

/// Of names that are their own only spelling.
pub(crate) fn of<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    among(asked, known.into_iter().map(|name| (name, [name])))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The end of a sentence that says what is not known.
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

/// How many letters are wrong, missing, too many or in the wrong order.
pub(crate) fn slips(asked: &str, known: &str) -> usize {
    strsim::damerau_levenshtein(asked, known)
}

/// A text that may be a name, cut to what is compared and shown of it.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// 1 for the same, 0 for nothing in common.
fn likeness(asked: &str, known: &str) -> f64 {
    let share = |known: &str| {
        let longer = asked.chars().count().max(known.chars().count());
        let weight = if letters(asked) == letters(known) {
            MUDDLED
        } else {
            1.0
        };
        1.0 - weight * slips(asked, known) as f64 / longer.max(1) as f64
    };
    let length = asked.chars().count();
    let beginning: String = known.chars().take(length).collect();
    if length < SHORTEST_BEGINNING || beginning.len() == known.len() {
        return share(known);
    }
    share(known).max(BEGUN * share(&beginning))
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
    fn a_slip_of_the_pen_gets_the_name_it_is_of() {
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
    fn letters_in_the_wrong_order_are_a_lesser_slip_than_wrong_ones() {
        assert_eq!(of("uas", ["uae", "usa", "fas"]), ["usa"]);
    }

    #[test]
    fn the_beginning_of_a_name_is_enough() {
        assert_eq!(of("mem", ["energy", "memory"]), ["memory"]);
        assert_eq!(of("m", ["energy", "memory"]), [""; 0]);
    }

    #[test]
    fn what_is_like_nothing_gets_nothing() {
        for asked in ["", "quux", "x", "post-processing"] {
            assert_eq!(of(asked, ["pue", "zone", "price"]), [""; 0], "{asked}");
        }
    }

    #[test]
    fn the_likest_spelling_counts_and_equals_keep_their_order() {
        let known = [
            ("b", vec!["beta", "second"]),
            ("a", vec!["secund", "alpha"]),
            ("c", vec![]),
        ];
        assert_eq!(among("secnd", known), ["b", "a"]);
    }

    #[test]
    fn a_text_of_any_length_is_compared_in_no_time() {
        assert_eq!(of(&"x".repeat(10_000_000), ["zone"]), [""; 0]);
    }

    #[test]
    fn one_is_said_as_one_and_none_not_at_all() {
        assert_eq!(said(&["a"]), "; the nearest is a");
        assert_eq!(said(&["a", "b"]), "; the nearest are a, b");
        assert_eq!(said(&[""; 0]), "");
    }
}
