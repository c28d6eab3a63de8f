use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tera::{Context, Tera};

use super::page::{GroupPage, RunPage, StartPage};
use crate::text::escape;

/// The templates of this build; a folder given by the user goes before each of them.
const TEMPLATES: [(&str, &str); 5] = [
    ("parts.html", include_str!("../../templates/parts.html")),
    ("shell.html", include_str!("../../templates/shell.html")),
    ("start.html", include_str!("../../templates/start.html")),
    ("group.html", include_str!("../../templates/group.html")),
    ("run.html", include_str!("../../templates/run.html")),
];

/// What pages need beside them.
const ASSETS: [(&str, &str); 2] = [
    ("style.css", include_str!("../../site/style.css")),
    ("site.js", include_str!("../../site/site.js")),
];

/// Turns pages into HTML; the one owner of the template engine.
pub struct Renderer {
    tera: Tera,
    assets: Vec<(&'static str, String)>,
    is_own: bool,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    #[error("cannot read {}", .path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("a template is wrong")]
    Template(#[source] Box<tera::Error>),
}

impl From<tera::Error> for RenderError {
    fn from(error: tera::Error) -> Self {
        Self::Template(Box::new(error))
    }
}

impl fmt::Debug for Renderer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renderer").finish_non_exhaustive()
    }
}

impl Renderer {
    /// With the templates and assets of this build, or those of the same name in a folder.
    pub fn new(own: Option<&Path>) -> Result<Self, RenderError> {
        let mut templates = Vec::new();
        for (name, built_in) in TEMPLATES {
            templates.push((
                name,
                override_of(own, name)?.unwrap_or_else(|| built_in.to_owned()),
            ));
        }
        let mut assets = Vec::new();
        for (name, built_in) in ASSETS {
            assets.push((
                name,
                override_of(own, name)?.unwrap_or_else(|| built_in.to_owned()),
            ));
        }
        let mut tera = Tera::new();
        tera.set_escape_fn(|text, out| write!(out, "{}", escape::html(text)));
        tera.autoescape_on([".html"]);
        tera.add_raw_templates(templates)?;
        Ok(Self {
            tera,
            assets,
            is_own: own.is_some(),
        })
    }

    /// Whether a folder of the user's goes before what is built in.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// The files that every page refers to, by their name.
    pub(super) fn assets(&self) -> &[(&'static str, String)] {
        &self.assets
    }

    pub(super) fn start(&self, page: &StartPage) -> Result<String, RenderError> {
        self.render("start.html", page)
    }

    pub(super) fn group(&self, page: &GroupPage) -> Result<String, RenderError> {
        self.render("group.html", page)
    }

    pub(super) fn run(&self, page: &RunPage) -> Result<String, RenderError> {
        self.render("run.html", page)
    }

    fn render(&self, template: &str, page: &impl Serialize) -> Result<String, RenderError> {
        Ok(self
            .tera
            .render(template, &Context::from_serialize(page)?)?)
    }
}

fn override_of(folder: Option<&Path>, name: &str) -> Result<Option<String>, RenderError> {
    let Some(path) = folder.map(|folder| folder.join(name)) else {
        return Ok(None);
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RenderError::Io { path, source }),
    }
}
