//! The Python interpreter among the processes of a run.
//!
//! A shell, a shim or a launcher such as `uv run` does not say by its name which Python it starts.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{launcher, python};
use crate::files;
use crate::meter::process_tree::with_descendants;
use crate::model::Environment;
use crate::model::info::Python;

/// When the processes are looked at, after the start: launchers take up to some seconds.
const LOOKS: [Duration; 7] = [
    Duration::from_millis(4),
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(10),
    Duration::from_secs(60),
];
/// Larger command lines and environments are not read.
const LARGEST: u64 = 1 << 20;
/// More processes are not looked at.
const MOST_PROCESSES: usize = 256;

/// What was found among the processes.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) python: Option<Python>,
    pub(crate) client: Option<&'static str>,
}

/// Looks for a Python interpreter among a process and its descendants, a few times.
#[derive(Debug)]
pub(crate) struct PythonSearch {
    /// The /proc with the processes.
    folder: PathBuf,
    pid: u32,
    started: Instant,
    looks: usize,
}

impl PythonSearch {
    /// Among this process and its descendants, which have just been started.
    pub(crate) fn below(pid: u32, processes: &Path) -> Self {
        Self {
            folder: processes.to_owned(),
            pid,
            started: Instant::now(),
            looks: 0,
        }
    }

    /// The time until the next look; none after the last one.
    pub(crate) fn next(&self) -> Option<Duration> {
        let next = LOOKS.get(self.looks)?;
        Some(next.saturating_sub(self.started.elapsed()))
    }

    /// The interpreter that the topmost of the processes runs, with its packages, and a program among them that has its
    /// work done elsewhere.
    pub(crate) fn look(&mut self) -> Look {
        self.looks += 1;
        let processes = with_descendants(&self.folder, self.pid, MOST_PROCESSES);
        let mut look = Look::default();
        for pid in processes {
            let process = self.folder.join(pid.to_string());
            let Ok(program) = std::fs::read_link(process.join("exe")) else {
                continue;
            };
            let is_command = pid == self.pid;
            look.client = look
                .client
                .or_else(|| launcher::client(&program, is_command));
            if look.python.is_none()
                && let Some((interpreter, environment)) = interpreter(&process, program)
            {
                look.python = python::installed(&interpreter, &environment);
            }
        }
        look
    }
}

/// The interpreter that a process runs, by the name it was started with, and the environment it has.
fn interpreter(process: &Path, file: PathBuf) -> Option<(PathBuf, Environment)> {
    if !python::is_python(&file) || !is_in_our_files(process) {
        return None;
    }
    let words = words(process);
    let of_launcher = |word: &OsString| python::starts_another_python(Path::new(word));
    // The script, or the module after -m.
    if words.iter().skip(1).take(2).any(of_launcher) {
        return None;
    }
    let environment = environment(process);
    // A virtual environment is known by the link that was started, and the link leads out of it.
    let started = words.first().and_then(|word| {
        let path = python::on_the_path(word, &environment)?;
        let folder = std::fs::read_link(process.join("cwd")).unwrap_or_default();
        Some(folder.join(path))
    });
    let is_same = |path: &PathBuf| path.canonicalize().is_ok_and(|real| real == file);
    Some((started.filter(is_same).unwrap_or(file), environment))
}

/// Whether a process sees the same files; in a container the same path is another file.
fn is_in_our_files(process: &Path) -> bool {
    let namespace = |process: &Path| std::fs::read_link(process.join("ns/mnt"));
    match (namespace(process), namespace(Path::new("/proc/self"))) {
        (Ok(its), Ok(own)) => its == own,
        _ => true,
    }
}

/// The command line of a process.
fn words(process: &Path) -> Vec<OsString> {
    let line = files::read(&process.join("cmdline"), LARGEST).unwrap_or_default();
    let words = line.split(|byte| *byte == 0);
    words
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect()
}

fn environment(process: &Path) -> Environment {
    let block = files::read(&process.join("environ"), LARGEST).unwrap_or_default();
    block
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let end = entry.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (&entry[..end], &entry[end + 1..]);
            Some((OsStr::from_bytes(name), OsStr::from_bytes(value)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A process of files: started as `word`, which runs the file `program`.
    fn process(folder: &Path, pid: u32, word: &str, program: &Path, children: &str) {
        let process = folder.join(pid.to_string());
        let task = process.join(format!("task/{pid}"));
        fs::create_dir_all(&task).unwrap();
        fs::write(task.join("children"), children).unwrap();
        fs::write(
            process.join("cmdline"),
            format!("{}\0", word.replace(' ', "\0")),
        )
        .unwrap();
        fs::write(process.join("environ"), "PATH=/nonexistent\0HOME=/h\0").unwrap();
        symlink(program, process.join("exe")).unwrap();
    }

    /// An installation of Python with one package; gives its interpreter.
    fn installation(folder: &Path, package: &str) -> PathBuf {
        let site = folder.join("lib/python3.11/site-packages");
        fs::create_dir_all(site.join(package)).unwrap();
        fs::create_dir_all(folder.join("bin")).unwrap();
        let interpreter = folder.join("bin/python3.11");
        fs::write(&interpreter, "\x7fELF").unwrap();
        interpreter.canonicalize().unwrap()
    }

    #[test]
    fn the_first_python_below_a_shell_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let python = installation(&folder.path().join("base"), "numpy-2.0.1.dist-info");
        process(folder.path(), 7, "sh", Path::new("/bin/dash"), "8 ");
        process(folder.path(), 8, "python", &python, "");
        let mut search = PythonSearch::below(7, folder.path());
        assert_eq!(search.look().python.unwrap().packages["numpy"], "2.0.1");
    }

    #[test]
    fn a_python_started_in_a_virtual_environment_has_its_packages() {
        let folder = tempfile::tempdir().unwrap();
        let base = installation(&folder.path().join("base"), "numpy-2.0.1.dist-info");
        let venv = folder.path().join("venv");
        installation(&venv, "torch-2.4.0.dist-info");
        fs::write(venv.join("pyvenv.cfg"), "version = 3.11.4\n").unwrap();
        let link = venv.join("bin/python");
        symlink(&base, &link).unwrap();
        process(folder.path(), 7, link.to_str().unwrap(), &base, "");
        let found = PythonSearch::below(7, folder.path()).look().python.unwrap();
        assert_eq!(found.packages.len(), 1);
        assert_eq!(found.packages["torch"], "2.4.0");
    }

    #[test]
    fn a_client_of_a_batch_system_is_found_below_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        process(folder.path(), 7, "sh", Path::new("/bin/sh"), "8 9");
        process(folder.path(), 8, "sleep", Path::new("/bin/sleep"), "");
        let mut search = PythonSearch::below(7, folder.path());
        assert_eq!(search.look().client, None);
        process(folder.path(), 9, "srun", Path::new("/usr/bin/srun"), "");
        assert_eq!(search.look().client, Some("srun"));
        process(folder.path(), 17, "git", Path::new("/usr/bin/git"), "18");
        process(folder.path(), 18, "ssh", Path::new("/usr/bin/ssh"), "");
        let client = |pid| PythonSearch::below(pid, folder.path()).look().client;
        assert_eq!((client(17), client(18)), (None, Some("ssh")));
    }

    #[test]
    fn a_launcher_in_python_is_not_the_job_and_what_it_starts_is() {
        let folder = tempfile::tempdir().unwrap();
        let own = installation(&folder.path().join("own"), "poetry-1.8.0.dist-info");
        let job = installation(&folder.path().join("job"), "torch-2.4.0.dist-info");
        process(
            folder.path(),
            7,
            "python /opt/bin/poetry run train",
            &own,
            "8 ",
        );
        let mut search = PythonSearch::below(7, folder.path());
        assert_eq!(search.look().python, None);
        process(folder.path(), 8, "python train.py", &job, "");
        assert_eq!(search.look().python.unwrap().packages["torch"], "2.4.0");
    }

    #[test]
    fn the_search_ends_if_there_is_no_python() {
        let folder = tempfile::tempdir().unwrap();
        process(folder.path(), 7, "sh", Path::new("/bin/dash"), "");
        let mut search = PythonSearch::below(7, folder.path());
        for _ in LOOKS {
            assert!(search.next().is_some());
            assert_eq!(search.look().python, None);
        }
        assert_eq!(search.next(), None);
    }
}
