//! As much of a pickle writer as the logs of experiment-impact-tracker need.

/// What such a log holds.
#[derive(Clone)]
pub enum Value {
    Text(String),
    Float(f64),
    List(Vec<Value>),
    Dict(Vec<(&'static str, Value)>),
    /// A `datetime.datetime` without a time zone.
    LocalTime {
        date: (u16, u8, u8),
        seconds: u32,
    },
}

pub fn write(value: &Value, protocol: u8) -> Vec<u8> {
    let mut out = vec![0x80, protocol];
    put(&mut out, value, protocol);
    out.push(b'.');
    out
}

fn put(out: &mut Vec<u8>, value: &Value, protocol: u8) {
    match value {
        Value::Text(text) => put_text(out, text, protocol),
        Value::Float(number) => {
            out.push(b'G');
            out.extend(number.to_be_bytes());
        }
        Value::List(items) => {
            out.extend(b"](");
            for item in items {
                put(out, item, protocol);
            }
            out.push(b'e');
        }
        Value::Dict(entries) => {
            out.extend(b"}(");
            for (key, value) in entries {
                put_text(out, key, protocol);
                put(out, value, protocol);
            }
            out.push(b'u');
        }
        Value::LocalTime {
            date: (year, month, day),
            seconds,
        } => {
            if protocol >= 4 {
                put_text(out, "datetime", protocol);
                put_text(out, "datetime", protocol);
                out.push(0x93);
            } else {
                out.extend(b"cdatetime\ndatetime\n");
            }
            out.extend(b"C\x0a");
            out.extend(year.to_be_bytes());
            let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60];
            out.extend([*month, *day]);
            out.extend(clock.map(|part| part as u8));
            out.extend([0, 0, 0, 0x85, b'R']);
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str, protocol: u8) {
    if protocol >= 4 {
        out.extend([0x8c, text.len() as u8]);
    } else {
        out.push(b'X');
        out.extend((text.len() as u32).to_le_bytes());
    }
    out.extend(text.as_bytes());
}
