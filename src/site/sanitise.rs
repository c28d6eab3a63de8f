use std::collections::{HashMap, HashSet};

use crate::text::escape::without_controls;

/// The HTML of a description, reduced to text with simple formatting and web links.
pub(super) fn sanitise(html: &str) -> String {
    let tags = [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "code",
        "dd",
        "del",
        "div",
        "dl",
        "dt",
        "em",
        "i",
        "ins",
        "kbd",
        "li",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "u",
        "ul",
        "var",
    ];
    ammonia::Builder::new()
        .tags(HashSet::from(tags))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("abbr", HashSet::from(["title"])),
        ]))
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(None)
        .clean(&without_controls(html))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_run_is_gone_and_what_only_looks_nice_stays() {
        let dirty = "<b onclick=x>bold</b><script>alert(1)</script><a href=\"javascript:x\">j</a>\
                     <a href=\"https://example.org\">w</a><img src=x onerror=y><iframe></iframe>\
                     <div class=\"alert\" style=\"position:fixed\">d</div><br/>\u{202e}";
        assert_eq!(
            sanitise(dirty),
            "<b>bold</b><a>j</a>\
             <a href=\"https://example.org\">w</a><div>d</div><br>\u{fffd}"
        );
    }
}
