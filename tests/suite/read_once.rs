//! What the kernel says about how often the files of a log are opened.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

use crate::support::{Run, impact};

/// How often each of these folders' `info.json` and `data.json` are opened while `act` runs.
fn opened(logs: &[PathBuf], act: impl FnOnce()) -> (usize, usize) {
    let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
    // The kernel joins equal events that follow each other, which those of opening and closing do not.
    let flags = WatchFlags::OPEN | WatchFlags::CLOSE;
    for log in logs {
        inotify::add_watch(&watch, log.join("impacttracker"), flags).unwrap();
    }
    act();
    let mut buffer = [MaybeUninit::uninit(); 8 << 10];
    let mut events = Reader::new(&watch, &mut buffer);
    let (mut infos, mut data) = (0, 0);
    while let Ok(event) = events.next() {
        assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW));
        if !event.events().contains(ReadFlags::OPEN) {
            continue;
        }
        match event.file_name().map(CStr::to_bytes) {
            Some(b"info.json") => infos += 1,
            Some(b"data.json") => data += 1,
            _ => {}
        }
    }
    (infos, data)
}

fn write_logs(folder: &Path) -> Vec<PathBuf> {
    let runs = ["a", "b", "c"];
    runs.map(|name| Run::default().write(&folder.join(name)))
        .to_vec()
}

#[test]
fn a_statement_opens_each_file_of_a_log_once() {
    let folder = tempfile::tempdir().unwrap();
    let logs = write_logs(folder.path());
    let state = || {
        let mut statement = impact();
        statement.arg("statement").arg(folder.path());
        statement.assert().success();
    };
    assert_eq!(opened(&logs, state), (3, 3));
}

#[test]
fn a_site_opens_each_file_of_a_log_once_to_read_it_and_once_to_copy_it() {
    let folder = tempfile::tempdir().unwrap();
    let logs = write_logs(&folder.path().join("logs"));
    let site = folder.path().join("site");
    let make = || {
        let mut appendix = impact();
        appendix.arg("appendix").arg(folder.path().join("logs"));
        appendix.arg("-o").arg(&site).assert().success();
    };
    let (infos, data) = opened(&logs, make);
    assert_eq!((infos, data), (6, 6));
}
