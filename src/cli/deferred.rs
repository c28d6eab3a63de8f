use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The options of a command, built only when the command is called: to build those of all commands takes a third of the
/// time of a start.
#[derive(Debug)]
pub(super) struct Deferred<A>(pub(super) A);

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            // A flattened group of options would put its own description here.
            let about = command.get_about().cloned().unwrap_or_default();
            A::augment_args(command).about(about).long_about(None)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
