use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// A JSON object in the order of its text, without repeated names.
#[derive(Debug, Clone)]
pub(crate) struct Ordered<V>(pub(crate) Vec<(String, V)>, BTreeSet<String>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new(), BTreeSet::new())
    }
}

impl<V> Ordered<V> {
    /// Adds a value; an error if the name is already there.
    pub(crate) fn insert<E: Error>(&mut self, name: String, value: V) -> Result<(), E> {
        if self.1.contains(&name) {
            return Err(E::custom(format_args!("the name {name:?} is given twice")));
        }
        self.push(name, value);
        Ok(())
    }

    /// Adds a value whose name is new.
    pub(crate) fn push(&mut self, name: String, value: V) {
        self.1.insert(name.clone());
        self.0.push((name, value));
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
