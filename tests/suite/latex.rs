//! The LaTeX that `impact statement` writes compiles, with the citations it makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{LegacyRun, impact, not_run};

/// The test script installs TeX and sets this; without TeX at hand the test has nothing to say.
const REQUIRE_TOOLS: &str = "IMPACT_TEST_REQUIRE_TOOLS";

fn tex(program: &str, argument: &str, folder: &Path) -> Option<String> {
    let output = Command::new(program)
        .args((program == "pdflatex").then_some("-interaction=nonstopmode"))
        .args((program == "pdflatex").then_some("-halt-on-error"))
        .arg(argument)
        .current_dir(folder)
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{program}: {text}");
            Some(text)
        }
        Err(error) => {
            assert!(
                std::env::var_os(REQUIRE_TOOLS).is_none(),
                "{program}: {error}"
            );
            not_run(&format!("LaTeX: there is no {program} here"));
            None
        }
    }
}

fn write_paper(folder: &Path) {
    fs::write(
        folder.join("paper.tex"),
        "\\documentclass{article}\n\\begin{document}\n\\input{statement}\n\
         \\bibliographystyle{plain}\n\\bibliography{impact}\n\\end{document}\n",
    )
    .unwrap();
}

#[test]
fn the_fragment_compiles_and_every_citation_is_found() {
    let logs = tempfile::tempdir().unwrap();
    let name = "50% of_runs & {more} #1 $x^2 ~ \\ \"q\" <Zürich> ÀÿÐþß ☃ Ħ";
    LegacyRun::default().write(&logs.path().join(name));
    let paper = tempfile::tempdir().unwrap();
    impact()
        .arg("statement")
        .arg(logs.path())
        .args([
            "CAN",
            "--per-run",
            "--price",
            "0.31",
            "--url",
            "https://example.org/a_b?c=%20#d",
        ])
        .arg("--output")
        .arg(paper.path().join("statement.tex"))
        .arg("--bib")
        .arg(paper.path().join("impact.bib"))
        .assert()
        .success();
    write_paper(paper.path());
    for (program, argument) in [
        ("pdflatex", "paper"),
        ("bibtex", "paper"),
        ("pdflatex", "paper"),
    ] {
        if tex(program, argument, paper.path()).is_none() {
            return;
        }
    }
    let log = tex("pdflatex", "paper", paper.path()).expect("it was there a moment ago");
    assert!(!log.contains("undefined"), "{log}");
    assert!(paper.path().join("paper.pdf").is_file());
}

#[test]
fn without_a_file_of_their_own_the_entries_follow_as_comments() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let mut command = impact();
    command
        .arg("statement")
        .arg(logs.path())
        .args(["USA", "--format", "latex"]);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    for (at, _) in text.match_indices("\\cite{") {
        let key = text[at + 6..].split('}').next().unwrap();
        assert!(text.contains(&format!("% @article{{{key},")), "{key}");
    }
    assert_eq!(
        text.matches("\\cite{").count(),
        text.matches("% @article{").count()
    );
}

#[test]
fn a_run_whose_name_begins_like_an_argument_is_still_a_row() {
    let logs = tempfile::tempdir().unwrap();
    // The first row follows a line; each of the others the end of a row.
    let names = ["!", "*", "[x]"];
    for (index, name) in names.iter().enumerate() {
        let mut run = LegacyRun::default();
        run.rows[0].1 += index as f64;
        run.write(&logs.path().join(name));
    }
    let paper = tempfile::tempdir().unwrap();
    let fragment = paper.path().join("statement.tex");
    impact()
        .current_dir(logs.path())
        .arg("statement")
        .args(names)
        .args(["USA", "--per-run", "--output"])
        .arg(&fragment)
        .assert()
        .success();
    let text = fs::read_to_string(&fragment).unwrap();
    assert!(text.contains("raggedright {*} &") && text.contains("raggedright {[}x] &"));
    write_paper(paper.path());
    tex("pdflatex", "paper", paper.path());
}

#[test]
fn a_table_of_many_runs_breaks_over_pages_and_fits_their_width() {
    let logs = tempfile::tempdir().unwrap();
    for number in 0..90 {
        let mut run = LegacyRun::default();
        run.rows[0].1 += f64::from(number);
        run.write(&logs.path().join(format!(
            "impact-logs/20261118T2114{number:02}-a_training_script_with_a_long_name.py-c25244c26327"
        )));
    }
    let paper = tempfile::tempdir().unwrap();
    impact()
        .current_dir(logs.path())
        .args(["statement", "impact-logs", "--per-run", "--output"])
        .arg(paper.path().join("statement.tex"))
        .assert()
        .success();
    write_paper(paper.path());
    let Some(log) = tex("pdflatex", "paper", paper.path()) else {
        return;
    };
    for complaint in ["Overfull \\hbox", "Overfull \\vbox", "Float too large"] {
        assert!(!log.contains(complaint), "{log}");
    }
    let pages = log
        .split_once("paper.pdf (")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(pages.is_some_and(|pages| (3..=9).contains(&pages)), "{log}");
}
