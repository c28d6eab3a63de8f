use std::collections::BTreeSet;

const LONGEST: usize = 48;
/// Names that are devices on Windows.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The names in one folder of the site, all different.
#[derive(Debug, Default)]
pub(super) struct Segments(BTreeSet<String>);

impl Segments {
    /// A path segment for this name: the name itself if it is safe on every file system, otherwise its
    /// safe characters and a hash of the name, so that it does not depend on the other names.
    pub(super) fn claim(&mut self, name: &str) -> String {
        let wanted = segment(name);
        let mut unique = wanted.clone();
        let mut count = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{wanted}-{count}");
            count += 1;
        }
        unique
    }
}

fn segment(name: &str) -> String {
    if is_safe(name) {
        return name.to_owned();
    }
    let mut slug = String::new();
    for c in name.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_alphanumeric() || c == '_' {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    let mark = fnv1a(name.as_bytes()) as u32;
    if slug.is_empty() {
        format!("{mark:08x}")
    } else {
        format!("{slug}-{mark:08x}")
    }
}

/// Lower case only, because some file systems do not distinguish `A` and `a`.
fn is_safe(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !DEVICES.contains(&name)
        && !name.starts_with("com")
        && !name.starts_with("lpt")
}

/// A hash that is the same on every machine and in every version.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn safe_names_stay_and_others_get_a_mark() {
        let mut segments = Segments::default();
        assert_eq!(segments.claim("seed_0-a2c"), "seed_0-a2c");
        let marked = segments.claim("PPO2 (default)");
        assert!(
            marked.starts_with("ppo2-default-") && marked.len() == 21,
            "{marked}"
        );
        assert_eq!(Segments::default().claim("PPO2 (default)"), marked);
        assert_ne!(segments.claim("ppo2 [default]"), marked);
        for name in ["..", "/", "", ".", "con", "\u{202e}", "index.html"] {
            let segment = segments.claim(name);
            assert!(
                !segment.contains(['.', '/', '\\']) && segment.len() >= 8,
                "{name}: {segment}"
            );
        }
    }

    #[test]
    fn the_same_name_twice_gives_two_segments() {
        let mut segments = Segments::default();
        assert_eq!(segments.claim("a"), "a");
        assert_eq!(segments.claim("a"), "a-2");
    }

    proptest! {
        #[test]
        fn any_name_gives_a_short_plain_segment(name in any::<String>()) {
            let segment = segment(&name);
            prop_assert!(!segment.is_empty() && segment.len() <= LONGEST + 9);
            prop_assert!(segment.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-'));
        }
    }
}
