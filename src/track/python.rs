//! The Python interpreter of a command and its packages, found by file names; no Python is run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::files;
use crate::model::Environment;
use crate::model::info::Python;

/// Programs that start the rest of their command line on other machines, where it cannot be looked at.
const REMOTE_LAUNCHERS: [&str; 7] = [
    "srun", "mpirun", "mpiexec", "aprun", "jsrun", "prun", "flux",
];

/// Programs in Python that start another Python, with packages of its own.
const ENVIRONMENT_LAUNCHERS: [&str; 9] = [
    "poetry", "conda", "mamba", "pipenv", "pipx", "hatch", "pdm", "tox", "nox",
];

/// The interpreter of a command and its packages, if the command names it.
pub(crate) fn state(command: &[OsString], environment: &Environment) -> Option<Python> {
    let program = on_the_path(command.first()?, environment)?;
    let interpreter = if is_python(&program) {
        program
    } else if is_one_of(&program, &REMOTE_LAUNCHERS) {
        let words = command[1..].iter();
        let mut pythons = words.filter(|word| is_python(Path::new(word)));
        on_the_path(pythons.next()?, environment)?
    } else if starts_another_python(&program) {
        return None;
    } else {
        shebang(&program, environment)?
    };
    installed(&interpreter, environment)
}

/// Whether a script or module is not the job, but starts the Python of the job.
pub(crate) fn starts_another_python(program: &Path) -> bool {
    is_one_of(program, &ENVIRONMENT_LAUNCHERS)
}

fn is_one_of(program: &Path, names: &[&str]) -> bool {
    let name = program.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| names.contains(&name))
}

/// An interpreter with its packages; none if the file is a script, such as a shim of pyenv.
pub(crate) fn installed(interpreter: &Path, environment: &Environment) -> Option<Python> {
    if start_of(interpreter)?.starts_with(b"#!") {
        return None;
    }
    let home = Home::of(interpreter)?;
    let mut packages = BTreeMap::new();
    for folder in home.package_folders(user_base(environment).as_deref()) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some((name, version)) = name.to_str().and_then(package) {
                packages.entry(name).or_insert(version);
            }
        }
    }
    Some(Python {
        version: home.version,
        packages,
    })
}

/// The file that a word names in a shell with this environment.
pub(crate) fn on_the_path(program: &OsStr, environment: &Environment) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    std::env::split_paths(environment.get_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Whether a file is called as interpreters are: `python`, `python3`, `python3.12`, `pypy3`.
pub(crate) fn is_python(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str);
    let version = name.and_then(|name| {
        let rest = name.strip_prefix("python");
        rest.or_else(|| name.strip_prefix("pypy"))
    });
    version.is_some_and(|version| {
        // Builds for debugging and without a global lock have one more character.
        let version = version.strip_suffix("-dbg").unwrap_or(version);
        let number = version.trim_end_matches(['d', 't', 'm']);
        number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// The Python in the first line of a script.
fn shebang(script: &Path, environment: &Environment) -> Option<PathBuf> {
    let start = start_of(script)?;
    let text = String::from_utf8_lossy(&start);
    let line = text.strip_prefix("#!")?.lines().next()?;
    let word = line
        .split_ascii_whitespace()
        .find(|word| is_python(Path::new(word)))?;
    on_the_path(OsStr::new(word), environment)
}

/// The first bytes of a file.
fn start_of(file: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut start = vec![0; 256];
    let length = files::open(file).ok()?.read(&mut start).ok()?;
    start.truncate(length);
    Some(start)
}

/// Larger files are no settings of a virtual environment.
const LARGEST_SETTINGS: u64 = 1 << 20;

/// An installation or a virtual environment.
struct Home {
    prefix: PathBuf,
    version: Option<String>,
    /// A virtual environment does not use the packages that a user has installed outside of it.
    is_apart: bool,
}

/// The folder of a user's own packages, if Python uses it.
fn user_base(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get_os(name);
    if set("PYTHONNOUSERSITE").is_some() {
        return None;
    }
    let home = || Some(PathBuf::from(set("HOME")?).join(".local"));
    set("PYTHONUSERBASE").map(PathBuf::from).or_else(home)
}

impl Home {
    fn of(interpreter: &Path) -> Option<Self> {
        let around = |file: &Path| Some(file.parent()?.parent()?.to_owned());
        let here = around(interpreter)?;
        let settings = files::read_text(&here.join("pyvenv.cfg"), LARGEST_SETTINGS).ok();
        let is_apart = settings.is_some();
        let prefix = if is_apart || here.join("conda-meta").is_dir() {
            here
        } else {
            around(&interpreter.canonicalize().ok()?)?
        };
        let stated = settings.as_deref().and_then(|text| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                key.trim()
                    .starts_with("version")
                    .then(|| value.trim().to_owned())
            })
        });
        let named = || {
            let real = interpreter.canonicalize().ok()?;
            let name = real
                .file_name()?
                .to_str()?
                .strip_prefix("python")?
                .to_owned();
            name.contains('.').then_some(name)
        };
        Some(Self {
            prefix,
            version: stated.or_else(named),
            is_apart,
        })
    }

    /// In the order in which Python searches them.
    fn package_folders(&self, user_base: Option<&Path>) -> Vec<PathBuf> {
        let short = self.version.as_deref().map(|version| {
            let parts: Vec<&str> = version.split('.').take(2).collect();
            format!("python{}", parts.join("."))
        });
        let mut folders = Vec::new();
        if let (Some(base), Some(short), false) = (user_base, &short, self.is_apart) {
            folders.push(base.join("lib").join(short).join("site-packages"));
        }
        folders.push(self.prefix.join("conda-meta"));
        for lib in ["lib", "lib64", "local/lib"] {
            let lib = self.prefix.join(lib);
            folders.push(lib.join("python3/dist-packages"));
            if let Some(short) = &short {
                folders.push(lib.join(short).join("site-packages"));
                folders.push(lib.join(short).join("dist-packages"));
            }
        }
        folders
    }
}

/// The package and version in the name of a metadata folder or file.
fn package(file: &str) -> Option<(String, String)> {
    let (name, version) = if let Some(stem) = file.strip_suffix(".dist-info") {
        stem.rsplit_once('-')?
    } else if let Some(stem) = file.strip_suffix(".egg-info") {
        let mut parts = stem.split('-');
        (parts.next()?, parts.next()?)
    } else {
        // conda: name-version-build.json
        let (rest, _build) = file.strip_suffix(".json")?.rsplit_once('-')?;
        rest.rsplit_once('-')?
    };
    Some((
        name.to_ascii_lowercase().replace('_', "-"),
        version.to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_their_metadata() {
        let is = |file: &str| package(file).map(|(name, version)| format!("{name}={version}"));
        assert_eq!(
            is("torch-2.1.0+cu118.dist-info").as_deref(),
            Some("torch=2.1.0+cu118")
        );
        assert_eq!(
            is("PyYAML-6.0-py3.11.egg-info").as_deref(),
            Some("pyyaml=6.0")
        );
        assert_eq!(
            is("scikit_learn-1.3.2.dist-info").as_deref(),
            Some("scikit-learn=1.3.2")
        );
        assert_eq!(
            is("numpy-1.26.0-py311h64a7726_0.json").as_deref(),
            Some("numpy=1.26.0")
        );
        assert_eq!(is("numpy"), None);
    }

    #[test]
    fn a_virtual_environment_is_read_without_running_it() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("lib/python3.11/site-packages");
        fs::create_dir_all(site.join("numpy-2.0.1.dist-info")).unwrap();
        fs::create_dir_all(folder.path().join("bin")).unwrap();
        fs::write(folder.path().join("bin/python"), "").unwrap();
        fs::write(
            folder.path().join("pyvenv.cfg"),
            "home = /usr\nversion = 3.11.4\n",
        )
        .unwrap();
        let python = state(
            &[folder.path().join("bin/python").into_os_string()],
            &Environment::default(),
        )
        .unwrap();
        assert_eq!(python.version.as_deref(), Some("3.11.4"));
        assert_eq!(python.packages["numpy"], "2.0.1");
    }

    #[test]
    fn what_a_user_installed_counts_outside_of_virtual_environments() {
        let home = |is_apart| Home {
            prefix: PathBuf::from("/usr"),
            version: Some("3.12.1".to_owned()),
            is_apart,
        };
        let users = Path::new("/home/me/.local/lib/python3.12/site-packages");
        let folders = |is_apart| home(is_apart).package_folders(Some(Path::new("/home/me/.local")));
        assert_eq!(folders(false)[0], users);
        assert!(folders(true).iter().all(|folder| folder != users));
    }

    #[test]
    fn launchers_have_the_python_of_their_command_line_or_none_and_a_shim_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, site) = ("bin", "lib/python3.11/site-packages/numpy-2.0.1.dist-info");
        for path in [bin, site] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let file = |name: &str, text: &str| {
            let file = folder.path().join(bin).join(name);
            fs::write(&file, text).unwrap();
            file.into_os_string()
        };
        let python = file("python3.11", "\x7fELF");
        let launcher = file("srun", "\x7fELF");
        let shim = file(
            "python3",
            "#!/usr/bin/env bash\nexec pyenv exec python3 \"$@\"\n",
        );
        let environment = Environment::default();
        let words = [launcher, OsString::from("-n2"), python];
        let found = state(&words, &environment).unwrap();
        assert_eq!(found.packages["numpy"], "2.0.1");
        assert_eq!(state(&[shim], &environment), None);
        let script = format!("#!{}\n", words[2].to_str().unwrap());
        assert!(state(&[file("train", &script)], &environment).is_some());
        let poetry = file("poetry", &script);
        assert_eq!(state(&[poetry], &environment), None, "not the job's");
    }

    #[test]
    fn a_command_that_is_no_python_has_none() {
        let environment = Environment::of_process();
        assert_eq!(state(&[OsString::from("sh")], &environment), None);
        assert_eq!(state(&[], &environment), None);
    }
}
