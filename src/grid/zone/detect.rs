//! Which cloud this machine is in, by the files of its firmware and of cloud-init and by the variables that providers set
//! in their containers; no network.

use crate::files;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cloud;
use super::cloud::CloudRegion;
use crate::model::Environment;

/// Where the machine's own files are, and the environment of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The folder to use as /sys.
    pub sys: PathBuf,
    /// The folder to use as /run.
    pub run: PathBuf,
    /// The folder to use as /etc.
    pub etc: PathBuf,
    /// The variables of this process.
    pub environment: Environment,
}

/// A cloud this machine is in.
#[derive(Debug, Clone, PartialEq)]
pub struct Detected {
    /// The provider's short name.
    pub provider: &'static str,
    /// The region, if a file on the machine names one that is known.
    pub region: Option<&'static CloudRegion>,
    /// What says so.
    pub evidence: Evidence,
}

/// What names the cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A file of the firmware or of cloud-init.
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
}

/// The path of the file, or the name of the variable.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// A variable that only the provider sets in what it runs, the variable with the region, and the provider. The region
/// alone says nothing: on any machine it may be the region that a client program talks to.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("AWS_EXECUTION_ENV", "AWS_REGION", "aws"),
    ("WEBSITE_SITE_NAME", "REGION_NAME", "azure"),
    ("CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION", "gcp"),
];

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
    let has_region = |found: &Detected| found.region.is_some();
    let named = from_cloud_init(&roots.run.join("cloud-init/instance-data.json"));
    named
        .clone()
        .filter(has_region)
        .or_else(|| from_variables(&roots.environment))
        .or(named)
        .or_else(|| from_firmware(&roots.sys.join("class/dmi/id"), &roots.environment))
}

fn from_variables(environment: &Environment) -> Option<Detected> {
    VARIABLES.iter().find_map(|(sign, region, provider)| {
        environment.get(sign)?;
        of_variable(environment, region, provider)
    })
}

/// The region that a variable names, if the provider has it.
fn of_variable(
    environment: &Environment,
    variable: &'static str,
    provider: &'static str,
) -> Option<Detected> {
    let code = environment.get(variable)?;
    let region = cloud::find(&format!("{provider}:{code}")).ok()?;
    Some(Detected {
        provider,
        region: Some(region),
        evidence: Evidence::Variable(variable),
    })
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
        evidence: Evidence::File(path.to_owned()),
    })
}

/// The provider that the firmware names; the region where a variable of its usual name has one of the provider's.
fn from_firmware(folder: &Path, environment: &Environment) -> Option<Detected> {
    const LARGEST: u64 = 4096;
    SIGNS.iter().find_map(|(field, sign, provider)| {
        let file = folder.join(field);
        if !read(&file, LARGEST)?.trim().starts_with(sign) {
            return None;
        }
        let mut variables = VARIABLES.iter().filter(|(.., of)| of == provider);
        let by_variable =
            variables.find_map(|(_, region, _)| of_variable(environment, region, provider));
        by_variable.or(Some(Detected {
            provider,
            region: None,
            evidence: Evidence::File(file),
        }))
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
            etc: folder.path().join("etc"),
            environment: Environment::default(),
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
    fn a_variable_names_the_region_only_where_the_provider_is_known() {
        let region = |roots: &Roots| Some(detect(roots)?.region?.code.clone());
        let (_folder, mut roots) = machine(&[]);
        roots.environment.extend([("AWS_REGION", "eu-north-1")]);
        assert_eq!(region(&roots), None, "may be the region of a client");
        roots
            .environment
            .extend([("AWS_EXECUTION_ENV", "AWS_ECS_FARGATE")]);
        assert_eq!(region(&roots).as_deref(), Some("eu-north-1"));
        let (_folder, mut roots) = machine(&[("sys/class/dmi/id/sys_vendor", "Amazon EC2\n")]);
        assert_eq!(region(&roots), None);
        roots.environment.extend([("AWS_REGION", "eu-north-1")]);
        assert_eq!(region(&roots).as_deref(), Some("eu-north-1"));
        let (_folder, mut roots) = machine(&[]);
        let azure = [("WEBSITE_SITE_NAME", "x"), ("REGION_NAME", "East US")];
        roots.environment.extend(azure);
        assert_eq!(region(&roots).as_deref(), Some("eastus"));
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
