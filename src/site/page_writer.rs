use std::path::Path;

use serde_json::{Value, json};

use super::appendix::SiteError;
use super::archive::pack;
use super::energy_pictures::{EnergyPicture, energy_pictures};
use super::entry::RunDetails;
use super::file_sink::FileSink;
use super::group_page::group_page;
use super::page::{Archive, Image, Picture};
use super::render::Renderer;
use super::run_page::run_page;
use super::site_map::{PageId, SiteMap};
use super::site_runs::SiteRuns;
use super::start_page::{StartPageContent, start_page};
use super::table::Table;
use super::zone_map::ZoneMaps;
use crate::model::Redaction;
use crate::text::number;

const ARCHIVE: &str = "log.zip";

/// Makes the pages of a site, and writes each with its JSON and its tables.
pub(super) struct PageWriter<'a> {
    pub(super) files: &'a dyn FileSink,
    pub(super) renderer: &'a Renderer,
    pub(super) map: &'a SiteMap<'a>,
    pub(super) zones: ZoneMaps,
    pub(super) redaction: Redaction,
}

impl PageWriter<'_> {
    pub(super) fn run(&self, run: usize, details: &RunDetails) -> Result<(), SiteError> {
        let folder = self.map.folder(PageId::Run(run, None));
        let log = &self.map.logs[run].path;
        let size = self
            .files
            .write_with(&format!("{folder}{ARCHIVE}"), &|file| {
                pack(log, self.redaction, &details.names, file)
            })?;
        let archive = Archive {
            file: ARCHIVE.to_owned(),
            size: number::bytes(size),
        };
        let zone = details.footprint.carbon.as_ref();
        let zone = zone.and_then(|carbon| carbon.zone.as_ref());
        let map_image = match zone.and_then(|zone| self.zones.of(zone)) {
            Some(drawn) => {
                self.files.write(&drawn.file, drawn.svg.as_bytes())?;
                Some(Image {
                    href: format!("{}{}", self.map.root(PageId::Run(run, None)), drawn.file),
                    alt: drawn.alt,
                })
            }
            None => None,
        };
        let pictures = self.pictures(&folder, log, details)?;
        let (page, json) = run_page(self.map, run, details, map_image, Some(archive), pictures);
        self.page(&folder, &self.renderer.run(&page)?, &json)?;
        self.tables(
            &folder,
            [&page.figures, &page.provenance]
                .into_iter()
                .chain(&page.phases)
                .chain(&page.packages),
        )
    }

    /// Writes the pictures of a run's profile; none without a profile.
    fn pictures(
        &self,
        folder: &str,
        log: &Path,
        details: &RunDetails,
    ) -> Result<Option<Result<Vec<Picture>, String>>, SiteError> {
        let drawn = match energy_pictures(log, details, self.redaction) {
            None => return Ok(None),
            Some(Err(why)) => return Ok(Some(Err(why))),
            Some(Ok(drawn)) => drawn,
        };
        let mut pictures = Vec::new();
        for EnergyPicture { file, title, svg } in drawn {
            self.publish(&format!("{folder}{file}"), &svg)?;
            pictures.push(Picture {
                file: file.to_owned(),
                title: title.to_owned(),
            });
        }
        Ok(Some(Ok(pictures)))
    }

    pub(super) fn group(&self, site: &SiteRuns, group: usize) -> Result<(), SiteError> {
        let folder = self.map.folder(PageId::Group(group));
        let (page, json) = group_page(site, group);
        self.page(&folder, &self.renderer.group(&page)?, &json)?;
        self.tables(
            &folder,
            [&page.figures, &page.runs].into_iter().chain(&page.summary),
        )
    }

    pub(super) fn start(
        &self,
        site: &SiteRuns,
        content: StartPageContent,
        made_from: &Value,
    ) -> Result<(), SiteError> {
        let (page, mut json) = start_page(site, content);
        if let (Some(json), Some(made_from)) = (json.as_object_mut(), made_from.as_object()) {
            json.extend(made_from.clone());
        }
        self.page("", &self.renderer.start(&page)?, &json)?;
        self.tables("", [&page.groups].into_iter())
    }

    fn page(&self, folder: &str, html: &str, json: &Value) -> Result<(), SiteError> {
        self.publish(&format!("{folder}index.html"), html)?;
        let mut text = serde_json::to_string_pretty(json)?;
        text.push('\n');
        self.publish(&format!("{folder}index.json"), &text)
    }

    fn tables<'t>(
        &self,
        folder: &str,
        tables: impl Iterator<Item = &'t Table>,
    ) -> Result<(), SiteError> {
        for table in tables {
            self.publish(&format!("{folder}{}.csv", table.id), &table.csv())?;
        }
        Ok(())
    }

    fn publish(&self, name: &str, text: &str) -> Result<(), SiteError> {
        let text = self.redaction.without_places(text);
        Ok(self.files.write(name, text.as_bytes())?)
    }

    /// Style, script, and the list of runs that the search looks through.
    pub(super) fn assets(&self, site: &SiteRuns) -> Result<(), SiteError> {
        for (name, text) in self.renderer.assets() {
            self.files
                .write(&format!("assets/{name}"), text.as_bytes())?;
        }
        let runs: Vec<Value> = (0..site.entries.len())
            .filter(|run| site.entries[*run].is_some())
            .map(|run| {
                let href = format!("{}index.html", self.map.folder(PageId::Run(run, None)));
                json!([site.names[run], href, self.map.logs[run].relative])
            })
            .collect();
        let script = format!("window.impactRuns = {};\n", serde_json::to_string(&runs)?);
        self.files.write("assets/runs.js", script.as_bytes())?;
        Ok(())
    }
}
