use sha2::{Digest, Sha256};

/// Names for a machine and its devices: different for each, and the real ones cannot be found from them.
///
/// They are hashes keyed by the machine's boot id, which is random and is not published. So all logs of
/// one machine between two boots have the same names, which merging needs, also those of containers.
#[derive(Debug, Clone)]
pub struct Pseudonyms {
    /// None if the boot id is not known.
    boot_id: Option<String>,
    key: String,
}

impl Pseudonyms {
    /// Of the machine with this boot id; without one, names that no other run has.
    #[must_use]
    pub fn of(boot_id: Option<String>) -> Self {
        let key = boot_id.clone().unwrap_or_else(random);
        Self { boot_id, key }
    }

    /// Used instead of the boot id.
    #[must_use]
    pub fn boot_id(&self) -> Option<String> {
        let boot_id = self.boot_id.as_deref()?;
        Some(self.hash("boot", boot_id, 16))
    }

    /// Used instead of the UUID of a device.
    #[must_use]
    pub fn device(&self, uuid: &str) -> String {
        self.hash("device", uuid, 8)
    }

    /// The devices of a list such as `CUDA_VISIBLE_DEVICES`; their numbers identify nobody and stay.
    #[must_use]
    pub fn devices(&self, list: &str) -> String {
        let entries = list.split(',').map(str::trim);
        let shown = entries.map(|entry| match entry.parse::<i64>() {
            Err(_) if !entry.is_empty() => self.device(entry),
            _ => entry.to_owned(),
        });
        shown.collect::<Vec<_>>().join(",")
    }

    /// The first bytes of a hash, in hexadecimal digits.
    fn hash(&self, kind: &str, name: &str, bytes: usize) -> String {
        let text = format!("impact\0{kind}\0{}\0{name}", self.key);
        let hash = Sha256::digest(text);
        let digits = hash[..bytes].iter().map(|byte| format!("{byte:02x}"));
        digits.collect()
    }
}

fn random() -> String {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "7b4c4d3e-0d4f-4c3a-9f0e-2f4f6c1b9a11";

    #[test]
    fn one_machine_has_the_same_names_and_another_boot_others() {
        let one = Pseudonyms::of(Some(BOOT.to_owned()));
        let same = Pseudonyms::of(Some(BOOT.to_owned()));
        let other = Pseudonyms::of(Some(BOOT.replace('7', "8")));
        assert_eq!(one.boot_id(), same.boot_id());
        assert_eq!(one.device("GPU-1"), same.device("GPU-1"));
        assert_ne!(one.boot_id(), other.boot_id());
        assert_ne!(one.device("GPU-1"), other.device("GPU-1"));
        assert_ne!(one.device("GPU-1"), one.device("GPU-2"));
    }

    #[test]
    fn without_a_boot_id_no_two_runs_have_the_same_names() {
        let (one, other) = (Pseudonyms::of(None), Pseudonyms::of(None));
        assert_eq!(one.boot_id(), None);
        assert_ne!(one.device("GPU-1"), other.device("GPU-1"));
    }

    #[test]
    fn a_list_of_visible_devices_keeps_its_numbers() {
        let names = Pseudonyms::of(Some(BOOT.to_owned()));
        let expected = format!("0,{},-1", names.device("GPU-1"));
        assert_eq!(names.devices("0, GPU-1,-1"), expected);
        assert_eq!(names.devices(""), "");
    }
}
