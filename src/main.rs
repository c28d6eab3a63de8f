use std::process::ExitCode;

fn main() -> ExitCode {
    impact::cli::main()
}
