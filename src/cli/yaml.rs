use std::fmt::Write as _;

use serde_json::Value;

/// A value as block YAML. Text is always quoted, so that `NO` stays Norway.
#[must_use]
pub(super) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (n, (key, value)) in fields.iter().enumerate() {
                if n > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                let _ = write!(out, "{key}:");
                nested(out, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                block(out, item, indent + 2);
            }
        }
        scalar => {
            let _ = writeln!(out, "{scalar}");
        }
    }
}

fn nested(out: &mut String, value: &Value, indent: usize) {
    let opens = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if opens {
        out.push('\n');
        out.push_str(&" ".repeat(indent));
    } else {
        out.push(' ');
    }
    block(out, value, indent);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_maps_nest_and_text_is_quoted() {
        let value = json!([{"zone": "NO", "shares": [0.5, null], "of": {"a": 1, "b": []}}, {"zone": "FR"}]);
        let expected = "- zone: \"NO\"\n  shares:\n    - 0.5\n    - null\n  of:\n    a: 1\n    b: []\n- zone: \"FR\"\n";
        assert_eq!(yaml(&value), expected);
    }
}
