use super::Component;

/// Which components that contain others a log has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a component that a log has or has not"
)]
pub struct Present {
    pub(super) package: bool,
    pub(super) core: bool,
    pub(super) psys: bool,
    pub(super) all_gpus: bool,
}

impl Present {
    /// Adds a component; true if others may have to be counted differently now.
    pub fn add(&mut self, component: &Component) -> bool {
        let before = *self;
        match component {
            Component::Cpu | Component::Package(_) => self.package = true,
            Component::Core(_) => self.core = true,
            Component::Psys => self.psys = true,
            Component::AllGpus => self.all_gpus = true,
            _ => {}
        }
        *self != before
    }
}

impl<'a> FromIterator<&'a Component> for Present {
    fn from_iter<I: IntoIterator<Item = &'a Component>>(components: I) -> Self {
        let mut present = Self::default();
        for component in components {
            present.add(component);
        }
        present
    }
}
