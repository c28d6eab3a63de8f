//! Whether `docs/design.md` names files, functions and modules that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The most functions of a path.
const LONGEST_PATH: usize = 12;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn document() -> String {
    fs::read_to_string(root().join("docs/design.md")).unwrap()
}

/// The texts between single backquotes outside of blocks of code.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        } else if !is_block {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// The data paths: columns of the tables whose cells are `file:function`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut first = 0;
    for line in text.lines() {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [_, number, functions @ .., _] = cells.as_slice() else {
            continue;
        };
        let Ok(number) = number.parse::<usize>() else {
            continue;
        };
        if number == 1 {
            first = paths.len();
            paths.extend(functions.iter().map(|_| Vec::new()));
        }
        for (column, function) in functions.iter().enumerate() {
            let path = &mut paths[first + column];
            path.push((*function).to_owned());
            assert_eq!(path.len(), number, "{line}");
        }
    }
    paths
}

/// The functions that a file defines, each with its type if it has one: `Row::parse`, `paragraphs`. Tests are left out.
fn functions(tokens: TokenStream, of: Option<&str>, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |token: &TokenTree| match token {
        TokenTree::Ident(word) => word.to_string(),
        _ => String::new(),
    };
    // The type of an `impl`: the last name before its braces that is not inside of angle brackets.
    let (mut owner, mut depth, mut is_impl, mut is_test) = (None, 0, false, false);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(_) if word(token) == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                    found.insert(of.map_or(name.to_string(), |of| format!("{of}::{name}")));
                }
                is_impl = false;
            }
            TokenTree::Ident(_) if word(token) == "impl" && !is_impl => {
                (is_impl, owner, depth) = (true, None, 0);
            }
            TokenTree::Ident(_) if is_impl && depth == 0 && word(token) != "for" => {
                owner = Some(word(token));
            }
            TokenTree::Punct(mark) if is_impl => match mark.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                is_test = group.to_string().contains("cfg (test)")
                    || group.to_string().contains("cfg(test)");
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let is_module = at >= 2 && word(&tokens[at - 2]) == "mod";
                if is_impl {
                    functions(group.stream(), owner.as_deref(), found);
                } else if is_module && !is_test {
                    functions(group.stream(), None, found);
                }
                (is_impl, is_test) = (false, false);
            }
            _ => {}
        }
    }
}

fn functions_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    functions(text.parse().unwrap(), None, &mut found);
    found
}

#[test]
fn the_functions_of_a_file_are_found_with_their_types() {
    let found = functions_of(
        "pub fn free() { fn inner() {} } impl<T: Read> Lines<T> { fn next(&self) -> impl Fn() { || () } } \
         impl fmt::Display for Row<'_> { fn fmt(&self) {} } trait Source { fn read(&self); } \
         #[cfg(test)] mod tests { fn told() {} } mod part { fn below() {} }",
    );
    let wanted = ["Lines::next", "Row::fmt", "below", "free"];
    assert_eq!(found, wanted.map(str::to_owned).into());
}

#[test]
fn each_function_of_the_data_paths_exists_and_no_path_is_long() {
    let paths = paths(&document());
    assert_eq!(paths.len(), 4, "four data paths");
    for path in &paths {
        assert!((1..=LONGEST_PATH).contains(&path.len()), "{path:?}");
        let different: BTreeSet<&String> = path.iter().collect();
        assert_eq!(different.len(), path.len(), "{path:?}");
        for function in path {
            let (file, name) = function.split_once(':').expect(function);
            let text = fs::read_to_string(root().join("src").join(file)).expect(function);
            let defined = functions_of(&text);
            assert!(
                defined.contains(name),
                "{function} is not among {defined:?}"
            );
        }
    }
}

#[test]
fn each_file_that_the_design_names_exists() {
    let mut count = 0;
    for name in quoted(&document()) {
        let file = name.split(':').next().unwrap();
        let has_ending = Path::new(file)
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "csv");
        if has_ending && file.contains('/') {
            let exists = root().join(file).exists() || root().join("src").join(file).exists();
            assert!(exists, "{name}");
            count += 1;
        }
    }
    assert!(count > 4 * LONGEST_PATH, "{count} files");
}
