//! Each module uses only the modules it may, as read from the tokens of every source file.
//!
//! A path to another module begins with `crate`, `$crate` or a chain of `super` that leaves the module, wherever it stands:
//! in a `use`, an expression, a visibility or the arguments of a macro. Names without such a beginning come from the
//! same module or from a `use` that is seen here. What could hide a path is refused: the crate as a whole under another
//! name, names that the crate's root exports again, files included from elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Every module with the modules it may use, in the order of `src/lib.rs`.
const MAY_USE: [(&str, &[&str]); 11] = [
    ("units", &[]),
    ("text", &["units"]),
    ("files", &[]),
    ("model", &["units"]),
    ("grid", &["units", "text", "files", "model"]),
    // The table of devices, and the names of hardware in it.
    ("meter", &["units", "files", "model", "grid"]),
    ("log", &["units", "files", "model"]),
    // The live intensity that is logged with each sample.
    (
        "track",
        &["units", "files", "model", "grid", "meter", "log"],
    ),
    (
        "ledger",
        &["units", "text", "files", "model", "grid", "log"],
    ),
    (
        "site",
        &["units", "text", "files", "model", "grid", "log", "ledger"],
    ),
    (
        "cli",
        &[
            "units", "text", "files", "model", "grid", "meter", "log", "track", "ledger", "site",
        ],
    ),
];

/// What a source file uses: modules at the root of the crate, and constructs that could hide one.
#[derive(Debug, Default, PartialEq)]
struct Uses {
    modules: BTreeSet<String>,
    refused: BTreeSet<&'static str>,
}

impl Uses {
    /// Reads a file that is the module at this path.
    fn of(module: &[&str], text: &str) -> Self {
        let tokens: TokenStream = text.parse().unwrap();
        let mut uses = Self::default();
        let mut module: Vec<String> = module.iter().map(|name| (*name).to_owned()).collect();
        uses.read(&tokens, &mut module);
        uses
    }

    fn read(&mut self, tokens: &TokenStream, module: &mut Vec<String>) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let word = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(word)) => word.to_string(),
            _ => String::new(),
        };
        let mark = |at: usize| match tokens.get(at) {
            Some(TokenTree::Punct(mark)) => mark.as_char(),
            _ => ' ',
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => {
                    // `mod name { ... }` is a module of its own; other braces are not.
                    let inner = (at >= 2 && word(at - 2) == "mod").then(|| word(at - 1));
                    let depth = module.len();
                    module.extend(inner.filter(|_| group.delimiter() == Delimiter::Brace));
                    self.read(&group.stream(), module);
                    module.truncate(depth);
                    at += 1;
                }
                TokenTree::Ident(ident) => {
                    let ident = ident.to_string();
                    let is_attribute = at == 0 && mark(1) == '=';
                    match ident.as_str() {
                        "path" if is_attribute => self.refuse("a file by its path"),
                        "include" if mark(at + 1) == '!' => self.refuse("an included file"),
                        "extern" if word(at + 1) == "crate" => {
                            self.refuse("extern crate");
                            at += 2;
                        }
                        _ => {}
                    }
                    if matches!(ident.as_str(), "crate" | "self" | "super") {
                        at = self.path(&tokens, at, module);
                    } else {
                        at += 1;
                    }
                }
                _ => at += 1,
            }
        }
    }

    /// Reads the path that begins here, and answers where it ends.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, module: &[String]) -> usize {
        let is = |at: usize, name: &str| matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == name);
        let colons = |at: usize| {
            let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
            colon(at) && colon(at + 1)
        };
        // `pub(crate)` and `pub(super)` name nothing; neither does a `self` that is a value.
        if tokens.len() == 1 || (is(at, "self") && !colons(at + 1)) {
            return at + 1;
        }
        let mut place: Vec<String> = module.to_vec();
        loop {
            if is(at, "crate") {
                place.clear();
            } else if is(at, "super") && place.pop().is_none() {
                self.refuse("super of the crate");
            } else if !is(at, "super") && !is(at, "self") {
                break;
            }
            at += 1;
            if !colons(at) {
                // The module itself: harmless inside its own tree, but not if it is the whole crate.
                if place.is_empty() {
                    self.refuse("the whole crate");
                }
                return at;
            }
            at += 2;
        }
        if let Some(top) = place.first() {
            self.modules.insert(top.clone());
            return at;
        }
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => {
                self.modules.insert(name.to_string());
                at + 1
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                self.group(&group.stream());
                at + 1
            }
            _ => {
                self.refuse("the whole crate");
                at + 1
            }
        }
    }

    /// The first name of each part of `crate::{...}`.
    fn group(&mut self, parts: &TokenStream) {
        let mut is_first = true;
        for token in parts.clone() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ',' => is_first = true,
                TokenTree::Ident(name) if is_first => {
                    is_first = false;
                    if name == "self" {
                        self.refuse("the whole crate");
                    } else {
                        self.modules.insert(name.to_string());
                    }
                }
                _ if is_first => self.refuse("the whole crate"),
                _ => {}
            }
        }
    }

    fn refuse(&mut self, what: &'static str) {
        self.refused.insert(what);
    }
}

/// What is wrong with a file of the module `top`.
fn violations(top: &str, uses: &Uses) -> Vec<String> {
    let may_use = MAY_USE.iter().find(|(name, _)| *name == top);
    let (_, allowed) = may_use.unwrap_or_else(|| panic!("{top} is not in the table"));
    let wrong = uses
        .modules
        .iter()
        .filter(|name| *name != top && !allowed.contains(&name.as_str()));
    wrong
        .map(|name| format!("uses {name}"))
        .chain(uses.refused.iter().map(|what| format!("names {what}")))
        .collect()
}

/// Every source file of the library but its root, by the path of its module.
fn sources() -> BTreeMap<Vec<String>, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = crate::support::site::pages(&src, ".rs");
    let mut found = BTreeMap::new();
    for (name, path) in files {
        if name == "lib.rs" || name == "main.rs" {
            continue;
        }
        let module = name.strip_suffix(".rs").unwrap();
        let module = module.strip_suffix("/mod").unwrap_or(module);
        let module = module.split('/').map(str::to_owned).collect();
        found.insert(module, fs::read_to_string(path).unwrap());
    }
    found
}

#[test]
fn each_module_uses_only_the_modules_it_may() {
    let sources = sources();
    assert!(sources.len() > 100, "{} files", sources.len());
    let mut wrong = Vec::new();
    for (module, text) in &sources {
        let names: Vec<&str> = module.iter().map(String::as_str).collect();
        for violation in violations(names[0], &Uses::of(&names, text)) {
            wrong.push(format!("{}: {violation}", module.join("::")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_lists_every_module_of_the_crate_in_its_order() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let tokens: Vec<String> = text
        .parse::<TokenStream>()
        .unwrap()
        .into_iter()
        .map(|token| token.to_string())
        .collect();
    let modules: Vec<&str> = tokens
        .windows(2)
        .filter(|pair| pair[0] == "mod")
        .map(|pair| pair[1].as_str())
        .collect();
    assert_eq!(modules, MAY_USE.map(|(name, _)| name));
    for (place, (name, allowed)) in MAY_USE.iter().enumerate() {
        for used in *allowed {
            let before = modules[..place].contains(used);
            assert!(before, "{name} may use {used}, which is not before it");
        }
    }
}

#[test]
fn a_module_is_found_however_it_is_named() {
    for text in [
        "use crate::cli::Command;",
        "use crate::{units, cli::{self, Command}};",
        "use crate::{cli as below};",
        "use crate :: /* far */ cli;",
        "use super::super::cli;",
        "use super::super::{cli, units};",
        "use self::super::super::cli;",
        "mod private { use super::super::super::cli; }",
        "mod a { mod b { fn f() { super::super::super::super::cli::run() } } }",
        "fn f() { crate::cli::run() }",
        "fn f() { println!(\"{}\", crate::cli::NAME) }",
        "fn f() { vec![super::super::cli::NAME]; }",
        "macro_rules! m { () => { $crate::cli::run() } }",
        "pub(in crate::cli) fn f() {}",
        "impl crate::cli::Run for Meter {}",
        "#[derive(X)] #[x(with = crate::cli::y)] struct A;",
    ] {
        let uses = Uses::of(&["units", "energy"], text);
        assert!(uses.modules.contains("cli"), "{text}: {uses:?}");
        assert!(!violations("units", &uses).is_empty(), "{text}");
    }
}

#[test]
fn what_could_hide_a_module_is_refused() {
    for text in [
        "use crate as root; fn f() { root::cli::run() }",
        "use crate::*;",
        "use crate::{self as root};",
        "use crate::{*};",
        "use super::super as root;",
        "use super::super::*;",
        "extern crate self as root;",
        "#[path = \"../cli/mod.rs\"] mod cli;",
        "include!(\"../cli/mod.rs\");",
        "mod a { use super::super::super::*; }",
    ] {
        let uses = Uses::of(&["units", "energy"], text);
        assert!(!uses.refused.is_empty(), "{text}: {uses:?}");
    }
    // A name that the root exports again says nothing of its module.
    let uses = Uses::of(&["units"], "use crate::Tally;");
    assert_eq!(violations("units", &uses), ["uses Tally"]);
}

#[test]
fn what_stays_inside_a_module_is_allowed() {
    for text in [
        "use super::exact::Exact; use crate::units::Energy; use super::*;",
        "pub(crate) struct A; pub(super) struct B; impl A { fn f(&self) { self.g() } }",
        "pub(in crate::units) fn f() {} mod tests { use super::*; use super::super::Energy; }",
        "// use crate::cli;\n/// See [`crate::cli`].\nfn f() { let text = \"crate::cli\"; }",
        "use std::path::Path; fn f(path: &Path) { let path = 1; other::super_thing(); }",
    ] {
        let uses = Uses::of(&["units", "energy"], text);
        assert!(violations("units", &uses).is_empty(), "{text}: {uses:?}");
    }
}
