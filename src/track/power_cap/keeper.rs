//! Sets caps and takes them back, always with a record first.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::records::{Guard, Record, Records};
use crate::meter::Roots;
use crate::meter::power_cap::{self, CapBoard, CapError, Milliwatts};

/// Which boards are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Selection {
    All,
    /// By its number.
    One(u32),
    /// Those that a program started from here would see.
    Visible,
}

/// A cap for some boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) cap: Milliwatts,
    pub(crate) boards: Selection,
}

/// What is known about the limit of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownBoard {
    pub(crate) label: String,
    pub(crate) uuid: String,
    pub(crate) limit: Result<Milliwatts, CapError>,
    pub(crate) default: Result<Milliwatts, CapError>,
    pub(crate) range: Result<(Milliwatts, Milliwatts), CapError>,
    /// Whether the driver lets this user set it.
    pub(crate) may_set: Result<(), CapError>,
    pub(crate) state: Option<BoardState>,
}

/// Why a board has the limit that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BoardState {
    /// `impact powercap set` has set it, instead of this one.
    Lasting { original: Milliwatts },
    /// Runs that go on hold it.
    Held { back: Milliwatts },
    /// A run that was killed has left it.
    LeftOver { back: Milliwatts },
}

/// A board whose cap a killed run has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recovered {
    pub(crate) board: String,
    uuid: String,
    /// The limit it has again, or why not.
    pub(crate) back: Result<Milliwatts, CapError>,
}

/// What a reset has done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reset {
    pub(crate) boards: Vec<Changed>,
    pub(crate) recovered: Vec<Recovered>,
}

/// A board whose limit was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) board: String,
    pub(crate) uuid: String,
    pub(crate) from: Milliwatts,
    pub(crate) to: Milliwatts,
}

/// A board that this process holds.
struct Hold {
    uuid: String,
    /// Locked together with the other runs that hold it.
    lock: File,
}

/// Sets caps for one asker.
pub(super) struct Keeper<'r> {
    roots: &'r Roots,
    /// Ends with whoever asks.
    asker: &'r UnixStream,
    /// The boards, once the library was loaded.
    boards: Vec<CapBoard>,
    held: Vec<Hold>,
}

/// All that is read and written here are records.
impl From<io::Error> for CapError {
    fn from(error: io::Error) -> Self {
        Self::Record(error.to_string())
    }
}

impl<'r> Keeper<'r> {
    pub(super) fn new(roots: &'r Roots, asker: &'r UnixStream) -> Self {
        Self {
            roots,
            asker,
            boards: Vec::new(),
            held: Vec::new(),
        }
    }

    /// What is known about every board; changes nothing.
    ///
    /// NVML cannot be asked who may set a limit, so the present one is set again.
    pub(super) fn show(&mut self) -> Result<Vec<ShownBoard>, CapError> {
        self.load()?;
        let records = Records::existing(self.roots)?;
        let mut shown = Vec::new();
        for board in &mut self.boards {
            let limit = board.limit();
            let may_set = limit.clone().and_then(|limit| board.set_limit(limit));
            let state = match &records {
                Some((records, _)) => state(records, board)?,
                None => None,
            };
            shown.push(ShownBoard {
                label: board.label(),
                uuid: board.uuid.clone(),
                limit,
                default: board.default_limit(),
                range: board.range(),
                may_set,
                state,
            });
        }
        Ok(shown)
    }

    /// Caps boards until this process ends or releases them: all of them, or none.
    pub(super) fn hold(&mut self, wanted: Wanted) -> Result<Vec<Changed>, CapError> {
        let chosen = self.choose(wanted)?;
        let (records, guard) = Records::open(self.roots)?;
        for index in chosen.iter().copied() {
            self.check_free(&records, index, Some(wanted.cap))?;
        }
        let mut capped = Vec::new();
        for index in chosen {
            match self.hold_board(&records, index, wanted.cap) {
                Ok(board) => capped.push(board),
                Err(error) => {
                    self.release_under(&records, &guard)?;
                    return Err(error);
                }
            }
        }
        Ok(capped)
    }

    fn hold_board(
        &mut self,
        records: &Records,
        index: usize,
        cap: Milliwatts,
    ) -> Result<Changed, CapError> {
        self.check_asker()?;
        let board = &mut self.boards[index];
        let uuid = board.uuid.clone();
        let mut record = current_record(records, board)?;
        record.run = Some(cap);
        let lock = records.hold(&uuid)?;
        records.write(&record)?;
        // From here on the board is given back, whatever happens.
        self.held.push(Hold {
            uuid: uuid.clone(),
            lock,
        });
        if let Err(error) = board.set_limit(cap) {
            if let CapError::NotTaken { .. } = error {
                board.set_limit(record.without_runs())?;
            }
            return Err(error);
        }
        Ok(Changed {
            board: board.label(),
            uuid,
            from: record.without_runs(),
            to: cap,
        })
    }

    /// Gives back every board that this process holds; the last run that holds a board takes back its cap.
    pub(super) fn release(&mut self) -> Result<(), CapError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let (records, guard) = Records::open(self.roots)?;
        self.release_under(&records, &guard)
    }

    fn release_under(&mut self, records: &Records, _: &Guard) -> Result<(), CapError> {
        let mut result = Ok(());
        for hold in std::mem::take(&mut self.held) {
            drop(hold.lock);
            let given_back = match self.boards.iter_mut().find(|b| b.uuid == hold.uuid) {
                Some(board) => give_back(records, board).map(|_| ()),
                None => Ok(()),
            };
            result = result.and(given_back);
        }
        result
    }

    /// Takes back the caps that killed runs have left.
    pub(super) fn recover(&mut self) -> Result<Vec<Recovered>, CapError> {
        let Some((records, _guard)) = Records::existing(self.roots)? else {
            return Ok(Vec::new());
        };
        let mut recovered = Vec::new();
        for record in records.all()? {
            let is_left = record.run.is_some() && !records.is_held(&record.uuid)?;
            if !is_left {
                continue;
            }
            self.load()?;
            // A board that is gone has no limit; it may come back.
            if let Some(board) = self.boards.iter_mut().find(|b| b.uuid == record.uuid)
                && let Some(back) = give_back(&records, board).transpose()
            {
                recovered.push(Recovered {
                    board: board.label(),
                    uuid: record.uuid,
                    back,
                });
            }
        }
        Ok(recovered)
    }

    /// Caps boards until they are reset: all of them, or none.
    pub(super) fn set(&mut self, wanted: Wanted) -> Result<Vec<Changed>, CapError> {
        let chosen = self.choose(wanted)?;
        let (records, _guard) = Records::open(self.roots)?;
        for index in chosen.iter().copied() {
            self.check_free(&records, index, None)?;
        }
        let mut done: Vec<(usize, Record, Milliwatts)> = Vec::new();
        for index in chosen {
            let before = self.set_board(&records, index, wanted.cap);
            match before {
                Ok((record, limit)) => done.push((index, record, limit)),
                Err(error) => {
                    for (index, record, limit) in done {
                        self.boards[index].set_limit(limit)?;
                        records.write(&record)?;
                    }
                    return Err(error);
                }
            }
        }
        let changed = done.into_iter().map(|(index, record, limit)| Changed {
            board: self.boards[index].label(),
            uuid: record.uuid,
            from: limit,
            to: wanted.cap,
        });
        Ok(changed.collect())
    }

    /// Gives the record and the limit that the board had.
    fn set_board(
        &mut self,
        records: &Records,
        index: usize,
        cap: Milliwatts,
    ) -> Result<(Record, Milliwatts), CapError> {
        self.check_asker()?;
        let board = &mut self.boards[index];
        let before = current_record(records, board)?;
        let limit = board.limit()?;
        let changed = Record {
            lasting: Some(cap),
            lasting_before: before.lasting,
            ..before.clone()
        };
        records.write(&changed)?;
        if let Err(error) = board.set_limit(cap) {
            board.set_limit(limit).or_else(|undo| match undo {
                // Who may not set a limit has not changed it.
                CapError::NotAllowed { .. } | CapError::NotSupported { .. } => Ok(()),
                other => Err(other),
            })?;
            records.write(&before)?;
            return Err(error);
        }
        Ok((before, limit))
    }

    /// Gives boards the limit that they had before impact changed it.
    pub(super) fn reset(&mut self, selection: Selection) -> Result<Reset, CapError> {
        let recovered = self.recover()?;
        let mut reset = Reset {
            recovered,
            boards: Vec::new(),
        };
        let Some((records, _guard)) = Records::existing(self.roots)? else {
            return Ok(reset);
        };
        if records.all()?.is_empty() {
            return Ok(reset);
        }
        for index in self.select(selection)? {
            let uuid = self.boards[index].uuid.clone();
            let Some(record) = records.of_board(&uuid)? else {
                continue;
            };
            self.check_free(&records, index, None)?;
            let board = &mut self.boards[index];
            let limit = board.limit()?;
            if record.has_set(limit) {
                board.set_limit(record.original)?;
                reset.boards.push(Changed {
                    board: board.label(),
                    uuid: uuid.clone(),
                    from: limit,
                    to: record.original,
                });
            }
            records.remove(&uuid)?;
        }
        Ok(reset)
    }

    /// The boards that can be capped so, after what killed runs have left was taken back.
    fn choose(&mut self, wanted: Wanted) -> Result<Vec<usize>, CapError> {
        let chosen = self.select(wanted.boards)?;
        for index in chosen.iter().copied() {
            let board = &self.boards[index];
            let (least, most) = board.range()?;
            if !(least..=most).contains(&wanted.cap) {
                return Err(CapError::OutOfRange {
                    board: board.label(),
                    cap: wanted.cap,
                    least,
                    most,
                });
            }
        }
        for recovered in self.recover()? {
            let is_chosen = |index: &usize| self.boards[*index].uuid == recovered.uuid;
            if chosen.iter().any(is_chosen) {
                recovered.back?;
            }
        }
        Ok(chosen)
    }

    fn select(&mut self, selection: Selection) -> Result<Vec<usize>, CapError> {
        self.load()?;
        let count = self.boards.len();
        let is_meant = |board: &CapBoard| match selection {
            Selection::All => true,
            Selection::One(index) => board.index == index,
            Selection::Visible => board.is_visible,
        };
        let chosen: Vec<usize> = (0..count)
            .filter(|index| is_meant(&self.boards[*index]))
            .collect();
        match selection {
            _ if !chosen.is_empty() => Ok(chosen),
            Selection::One(index) => Err(CapError::NoSuchBoard { index, count }),
            _ => Err(CapError::NoBoard),
        }
    }

    fn load(&mut self) -> Result<(), CapError> {
        if self.boards.is_empty() {
            self.boards = power_cap::boards(self.roots)?;
        }
        Ok(())
    }

    /// Refuses a board that runs hold at another cap; without a cap, one that any run holds.
    fn check_free(
        &self,
        records: &Records,
        index: usize,
        cap: Option<Milliwatts>,
    ) -> Result<(), CapError> {
        let board = &self.boards[index];
        let record = records.of_board(&board.uuid)?;
        match record.and_then(|record| record.run) {
            Some(held) if Some(held) != cap => Err(CapError::Held {
                board: board.label(),
                cap: held,
            }),
            _ => Ok(()),
        }
    }

    /// An asker that has given up must not find a cap set later.
    fn check_asker(&self) -> Result<(), CapError> {
        let mut ends = [PollFd::new(self.asker, PollFlags::RDHUP)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        match poll(&mut ends, Some(&now)) {
            Ok(0) => Ok(()),
            _ => Err(CapError::Abandoned),
        }
    }
}

/// The record of a board, as far as it is still true: somebody else may have set another limit since.
fn current_record(records: &Records, board: &CapBoard) -> Result<Record, CapError> {
    let limit = board.limit()?;
    let known = records.of_board(&board.uuid)?;
    let known = known.filter(|record| record.run.is_some() || record.has_set(limit));
    Ok(known.unwrap_or_else(|| Record::new(&board.uuid, limit)))
}

/// Takes back the cap of runs, unless another run still holds the board. Gives the limit if that has changed it.
fn give_back(records: &Records, board: &mut CapBoard) -> Result<Option<Milliwatts>, CapError> {
    let record = records.of_board(&board.uuid)?;
    let Some(record) = record.filter(|record| record.run.is_some()) else {
        return Ok(None);
    };
    if records.is_held(&board.uuid)? {
        return Ok(None);
    }
    let back = record.without_runs();
    // A limit that somebody else has set since is left as it is.
    let is_ours = Some(board.limit()?) == record.run && record.run != Some(back);
    if is_ours {
        board.set_limit(back)?;
    }
    let record = Record {
        run: None,
        ..record
    };
    records.write(&record)?;
    Ok(is_ours.then_some(back))
}

fn state(records: &Records, board: &CapBoard) -> io::Result<Option<BoardState>> {
    let Some(record) = records.of_board(&board.uuid)? else {
        return Ok(None);
    };
    let back = record.without_runs();
    Ok(Some(if record.run.is_none() {
        BoardState::Lasting {
            original: record.original,
        }
    } else if records.is_held(&board.uuid)? {
        BoardState::Held { back }
    } else {
        BoardState::LeftOver { back }
    }))
}
