//! Every service against a server on this machine: good answers, bad ones, none.

mod answers;
mod refusals;
mod secrets;
mod server;
mod service;
mod background;
mod commands;
mod track;
