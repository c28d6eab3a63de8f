use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// A JSON object in the order of its text, without repeated names.
#[derive(Debug, Clone)]
pub(super) struct Ordered<V>(pub(super) Vec<(String, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Ordered<V> {
    /// Adds a value; an error if the name is already there.
    pub(super) fn insert<E: Error>(&mut self, name: String, value: V) -> Result<(), E> {
        if self.0.iter().any(|(known, _)| *known == name) {
            return Err(E::custom(format_args!("the name {name:?} is given twice")));
        }
        self.0.push((name, value));
        Ok(())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Ordered<V>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
                let mut entries = Ordered::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name.starts_with('_') {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    } else {
                        let value = map.next_value()?;
                        entries.insert(name, value)?;
                    }
                }
                Ok(entries)
            }
        }
        from.deserialize_map(Entries(PhantomData))
    }
}
