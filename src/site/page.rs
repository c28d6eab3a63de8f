//! The values that templates show.

use serde::Serialize;

use super::table::Table;

/// What every page has around its content.
#[derive(Debug, Serialize)]
pub(super) struct Shell {
    pub(super) title: String,
    pub(super) site: String,
    /// The relative path to the folder of the site, such as `../../`.
    pub(super) root: String,
    pub(super) crumbs: Vec<Link>,
    pub(super) nav: Vec<NavItem>,
    pub(super) generator: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) href: String,
}

/// One item of the navigation, with the lists that begin and end after it.
#[derive(Debug, Serialize)]
pub(super) struct NavItem {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) current: bool,
    pub(super) opens: bool,
    pub(super) closes: usize,
}

/// A figure in large type.
#[derive(Debug, Serialize)]
pub(super) struct Headline {
    pub(super) label: String,
    pub(super) value: String,
    pub(super) unit: String,
    pub(super) note: String,
}

/// A chart with its heading.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) svg: String,
    pub(super) caption: String,
}

/// A name and its value.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct StartPage {
    pub(super) shell: Shell,
    pub(super) headlines: Vec<Headline>,
    pub(super) groups: Table,
    pub(super) charts: Vec<Chart>,
    pub(super) statement: Option<StatementBlock>,
    pub(super) notices: Vec<String>,
    pub(super) skipped: Vec<Fact>,
}

/// The statement of the whole site, ready to be copied.
#[derive(Debug, Serialize)]
pub(super) struct StatementBlock {
    pub(super) html: String,
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct GroupPage {
    pub(super) shell: Shell,
    pub(super) description: Option<String>,
    pub(super) headlines: Vec<Headline>,
    /// The groups inside; none where there are none.
    pub(super) summary: Option<Table>,
    pub(super) scatters: Vec<Chart>,
    pub(super) charts: Vec<Chart>,
    pub(super) figures: Table,
    pub(super) runs: Table,
    pub(super) notices: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct RunPage {
    pub(super) shell: Shell,
    pub(super) path: String,
    pub(super) headlines: Vec<Headline>,
    pub(super) figures: Table,
    pub(super) provenance: Table,
    pub(super) phases: Option<Table>,
    pub(super) charts: Vec<Chart>,
    pub(super) about: Vec<Fact>,
    pub(super) hardware: Vec<Fact>,
    pub(super) region: Vec<Fact>,
    pub(super) map: Option<Image>,
    pub(super) packages: Option<Table>,
    pub(super) notes: Vec<String>,
    pub(super) homes: Vec<Vec<Link>>,
    pub(super) archive: Option<Archive>,
    /// Pictures of which spans used the energy.
    pub(super) pictures: Vec<Picture>,
}

/// A picture that is also a page of its own.
#[derive(Debug, Serialize)]
pub(super) struct Picture {
    pub(super) file: String,
    pub(super) title: String,
}

/// An image in a file of its own.
#[derive(Debug, Serialize)]
pub(super) struct Image {
    pub(super) href: String,
    pub(super) alt: String,
}

/// The raw log to download.
#[derive(Debug, Serialize)]
pub(super) struct Archive {
    pub(super) file: String,
    pub(super) size: String,
}
