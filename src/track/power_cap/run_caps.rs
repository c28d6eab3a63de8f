use super::CapRequest;
use super::keeper::{Changed, Recovered, Selection, Wanted};
use super::process::{PowerCapProcess, Question};
use super::records::Records;
use crate::meter::power_cap::{CapError, Milliwatts};
use crate::model::Pseudonyms;
use crate::model::info::{CappedBoard, PowerCap};
use crate::track::Plan;

/// The caps of a run; they are taken back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct RunCaps {
    process: Option<PowerCapProcess>,
    /// What the log says of them.
    pub(crate) recorded: Option<PowerCap>,
}

impl RunCaps {
    /// Takes back what killed runs have left, and caps the boards that the run would see, if that is wanted.
    ///
    /// Call this before threads are started.
    pub(crate) fn begin(
        plan: &Plan,
        pseudonyms: Option<&Pseudonyms>,
        notes: &mut Vec<String>,
    ) -> Result<Self, CapError> {
        let has_records = Records::are_there(&plan.roots);
        if plan.power_cap.is_none() && !has_records {
            return Ok(Self::default());
        }
        let started = PowerCapProcess::start(&plan.roots);
        let mut started = started.map_err(|error| CapError::Driver(error.to_string()));
        if has_records && let Ok(process) = &mut started {
            match process.ask::<Vec<Recovered>>(Question::Recover) {
                Ok(recovered) => notes.extend(recovered.iter().map(recovery)),
                Err(error) => {
                    notes.push(format!(
                        "power caps that killed runs have left cannot be taken back: {}",
                        told(&error, plan.redact)
                    ));
                    started = Err(error);
                }
            }
        }
        let Some(request) = plan.power_cap else {
            return Ok(Self::default());
        };
        let held = started.and_then(|mut process| Ok((hold(&mut process, request)?, process)));
        let requested_w = request.cap.get();
        match held {
            Ok((boards, process)) => Ok(Self {
                process: Some(process),
                recorded: Some(PowerCap {
                    requested_w,
                    boards: boards
                        .into_iter()
                        .map(|board| CappedBoard {
                            former_w: board.from.watts(),
                            uuid: pseudonyms.map_or(board.uuid.clone(), |p| p.device(&board.uuid)),
                        })
                        .collect(),
                    refused: None,
                }),
            }),
            Err(error) if request.best_effort => {
                let why = told(&error, plan.redact);
                let mut note = format!("the run has no power cap of {requested_w} W: {why}");
                if let CapError::NoAnswer { .. } | CapError::Driver(_) = error
                    && Records::are_there(&plan.roots)
                {
                    note.push_str(
                        "; a board may be capped all the same, until impact powercap reset",
                    );
                }
                notes.push(note);
                Ok(Self {
                    process: None,
                    recorded: Some(PowerCap {
                        requested_w,
                        boards: Vec::new(),
                        refused: Some(why),
                    }),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the caps back; says why that may not have happened.
    pub(crate) fn release(&mut self) -> Option<String> {
        let mut process = self.process.take()?;
        let released = process.ask::<()>(Question::Release);
        let error = released.err()?;
        Some(format!(
            "boards may still have the power cap of the run: {error}; impact powercap reset takes it back"
        ))
    }
}

impl Drop for RunCaps {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

fn hold(process: &mut PowerCapProcess, request: CapRequest) -> Result<Vec<Changed>, CapError> {
    let watts = request.cap;
    let cap = Milliwatts::of(watts);
    let cap = cap.ok_or_else(|| CapError::Driver(format!("no board allows {} W", watts.get())))?;
    process.ask(Question::Hold(Wanted {
        cap,
        boards: Selection::Visible,
    }))
}

/// What the log says of a cap that a killed run has left.
fn recovery(recovered: &Recovered) -> String {
    let board = &recovered.board;
    match &recovered.back {
        Ok(limit) => {
            format!("{board} has its limit of {limit} again: a run that was killed had capped it")
        }
        Err(error) => format!(
            "{board} still has the power cap of a run that was killed: {error}; impact powercap reset takes it back"
        ),
    }
}

/// The error in words; those of the file system may name folders.
fn told(error: &CapError, redact: bool) -> String {
    match error {
        CapError::Record(_) if redact => "the former limit cannot be recorded".to_owned(),
        other => other.to_string(),
    }
}
