//! Which cloud this machine is in, by the files of its firmware and of cloud-init; no network.

use crate::files;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cloud;
use super::cloud::CloudRegion;

/// Where the machine's own files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The folder to use as /sys.
    pub sys: PathBuf,
    /// The folder to use as /run.
    pub run: PathBuf,
}

/// A cloud this machine is in.
#[derive(Debug, Clone, PartialEq)]
pub struct Detected {
    /// The provider's short name.
    pub provider: &'static str,
    /// The region, if a file on the machine names one that is known.
    pub region: Option<&'static CloudRegion>,
    /// The file that says so.
    pub evidence: PathBuf,
}

/// Text in a firmware field, and the provider that writes it.
const SIGNS: &[(&str, &str, &str)] = &[
    ("sys_vendor", "Amazon EC2", "aws"),
    ("bios_vendor", "Amazon EC2", "aws"),
    ("product_name", "Google Compute Engine", "gcp"),
    (
        "chassis_asset_tag",
        "7783-7084-3265-9085-8269-3286-77",
        "azure",
    ),
    ("chassis_asset_tag", "OracleCloud.com", "oci"),
    ("sys_vendor", "Alibaba Cloud", "alibaba"),
    ("product_name", "Alibaba Cloud", "alibaba"),
    ("sys_vendor", "DigitalOcean", "digitalocean"),
    ("sys_vendor", "Hetzner", "hetzner"),
    ("sys_vendor", "Scaleway", "scaleway"),
    ("sys_vendor", "Vultr", "vultr"),
    ("sys_vendor", "Linode", "linode"),
    ("sys_vendor", "Akamai", "linode"),
];

#[derive(Deserialize)]
struct InstanceData {
    v1: Instance,
}

#[derive(Deserialize)]
struct Instance {
    #[serde(alias = "cloud-name")]
    cloud_name: String,
    #[serde(default)]
    region: Option<String>,
    #[serde(default, alias = "availability-zone")]
    availability_zone: Option<String>,
}

/// The cloud this machine is in, if a file names one.
#[must_use]
pub fn detect(roots: &Roots) -> Option<Detected> {
    from_cloud_init(&roots.run.join("cloud-init/instance-data.json"))
        .or_else(|| from_firmware(&roots.sys.join("class/dmi/id")))
}

fn from_cloud_init(path: &Path) -> Option<Detected> {
    const LARGEST: u64 = 4 << 20;
    let data: InstanceData = serde_json::from_str(&read(path, LARGEST)?).ok()?;
    let regions = cloud::of_provider(&data.v1.cloud_name).ok()?;
    let provider = regions.first()?.provider.as_str();
    let named = [data.v1.region, data.v1.availability_zone];
    let region = named
        .iter()
        .flatten()
        .find_map(|code| cloud::find(&format!("{provider}:{code}")).ok());
    Some(Detected {
        provider,
        region,
        evidence: path.to_owned(),
    })
}

fn from_firmware(folder: &Path) -> Option<Detected> {
    const LARGEST: u64 = 4096;
    SIGNS.iter().find_map(|(field, sign, provider)| {
        let evidence = folder.join(field);
        let text = read(&evidence, LARGEST)?;
        text.trim().starts_with(sign).then_some(Detected {
            provider,
            region: None,
            evidence,
        })
    })
}

fn read(path: &Path, largest: u64) -> Option<String> {
    let mut bytes = Vec::new();
    files::open(path)
        .ok()?
        .take(largest)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let roots = Roots {
            sys: folder.path().join("sys"),
            run: folder.path().join("run"),
        };
        (folder, roots)
    }

    #[test]
    fn cloud_init_names_the_region() {
        let (_folder, roots) = machine(&[(
            "run/cloud-init/instance-data.json",
            r#"{"v1":{"cloud_name":"aws","region":"eu-north-1","availability_zone":"eu-north-1b"}}"#,
        )]);
        assert_eq!(detect(&roots).unwrap().region.unwrap().code, "eu-north-1");
    }

    #[test]
    fn firmware_names_the_provider_only() {
        let (_folder, roots) =
            machine(&[("sys/class/dmi/id/product_name", "Google Compute Engine\n")]);
        let found = detect(&roots).unwrap();
        assert_eq!((found.provider, found.region), ("gcp", None));
    }

    #[test]
    fn a_machine_without_such_files_is_in_no_cloud() {
        let (_folder, roots) = machine(&[
            ("sys/class/dmi/id/sys_vendor", "LENOVO\n"),
            ("run/cloud-init/instance-data.json", "{\"v1\":17}"),
        ]);
        assert_eq!(detect(&roots), None);
    }
}
