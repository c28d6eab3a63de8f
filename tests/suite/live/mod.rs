//! Every service against a server on this machine: good answers, bad ones, none.

mod answers;
mod refusals;
mod secrets;
pub(crate) mod server;
pub(crate) mod service;
mod background;
mod commands;
mod track;
