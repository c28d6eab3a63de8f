use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tera::{Context, Kwargs, State, Tera, Value};

use super::page::{GroupPage, RunPage, StartPage};
use crate::files;
use crate::text::escape;

/// The built-in templates; a file of the same name in the user's folder replaces each.
const TEMPLATES: [(&str, &str); 5] = [
    ("parts.html", include_str!("../../templates/parts.html")),
    ("shell.html", include_str!("../../templates/shell.html")),
    ("start.html", include_str!("../../templates/start.html")),
    ("group.html", include_str!("../../templates/group.html")),
    ("run.html", include_str!("../../templates/run.html")),
];

/// The files that all pages refer to.
const ASSETS: [(&str, &str); 2] = [
    (
        "style.css",
        concat!(
            include_str!("../../site/colours.css"),
            "\n",
            include_str!("../../site/style.css")
        ),
    ),
    ("site.js", include_str!("../../site/site.js")),
];

/// Turns pages into HTML with templates.
pub struct Renderer {
    tera: Tera,
    assets: Vec<(&'static str, String)>,
    is_own: bool,
}

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A template of the user cannot be read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The template.
        path: PathBuf,
        /// Why it cannot be read.
        source: std::io::Error,
    },
    /// A template of the user has an error.
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
    /// With the built-in templates and assets, or those of the same names in this folder.
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
        tera.register_filter("breakable", |name: &str, _: Kwargs, _: &State| {
            Value::safe_string(&escape::breakable_html(name))
        });
        tera.add_raw_templates(templates)?;
        Ok(Self {
            tera,
            assets,
            is_own: own.is_some(),
        })
    }

    /// Whether the user gave a folder of templates.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// The names and contents of the files that all pages refer to.
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

/// Larger files are no templates.
const LARGEST_TEMPLATE: u64 = 4 << 20;

fn override_of(folder: Option<&Path>, name: &str) -> Result<Option<String>, RenderError> {
    let Some(path) = folder.map(|folder| folder.join(name)) else {
        return Ok(None);
    };
    match files::read_text(&path, LARGEST_TEMPLATE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RenderError::Io { path, source }),
    }
}
