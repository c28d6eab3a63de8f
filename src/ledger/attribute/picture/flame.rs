use super::{begin, kind, text};
use crate::ledger::attribute::{Attribution, Frame};
use crate::text::number::{counted, percent};
use crate::text::quantity::{Quantity, joules};
use crate::text::svg::{Attributes, Svg, shortened};
use crate::units::{Energy, SECONDS_PER_HOUR};

const STYLE: &str = include_str!("../../../../site/flame.css");
const SCRIPT: &str = include_str!("../../../../site/flame.js");
const ROW: usize = 20;
/// Where the controls are, and the frames below them.
const CONTROLS: usize = 55;
const TOP: usize = 144;
/// A browser shows so many frames without delay.
const MOST_FRAMES: usize = 3000;
const MOST_LEVELS: usize = 120;
/// Calls with less of the energy are not drawn, even if there are few.
const LEAST_SHARE: f64 = 0.0005;
/// Longer names make the file large; no frame is wide enough for them.
const LONGEST_NAME: usize = 200;

/// A frame of the picture: a call path, a device, or what no span covers.
struct Drawn {
    name: String,
    class: String,
    about: String,
    from: Energy,
    energy: Energy,
    level: usize,
}

/// An energy flame graph, with the run at the top and calls below their callers. The width of a frame is its energy,
/// with all that it called. It can be searched and zoomed.
#[must_use]
pub fn flame(attribution: &Attribution) -> String {
    let frames = Layout::of(attribution).drawn;
    let levels = frames
        .iter()
        .map(|frame| frame.level + 1)
        .max()
        .unwrap_or(0);
    let height = TOP + levels * ROW + 8;
    let run = attribution.run.as_deref().unwrap_or("run");
    let title = format!("Energy flame graph of {run}");
    let mut svg = begin(&[("width", &"100%"), ("height", &height)], &title, STYLE);
    text(
        &mut svg,
        "heading",
        (10.0, 26.0),
        "start",
        &shortened(&title, 40),
    );
    let how = if attribution.is_by_power() {
        "Width: energy with calls, by power over time"
    } else {
        "Width: energy with calls, estimated by own time"
    };
    text(&mut svg, "soft", (10.0, 46.0), "start", &how);
    let room: Attributes = &[
        ("id", &"room"),
        ("y", &CONTROLS),
        ("height", &(TOP - CONTROLS - 4)),
    ];
    svg.empty("g", room);
    svg.line_break();
    let total = attribution.total();
    svg.open("g", &[("role", &"group"), ("aria-label", &"Frames")]);
    svg.line_break();
    for frame in &frames {
        draw(&mut svg, frame, total);
    }
    svg.close("g");
    svg.line_break();
    svg.text("script", &[], &SCRIPT);
    svg.close("svg");
    svg.line_break();
    svg.finish()
}

fn draw(svg: &mut Svg, frame: &Drawn, total: Energy) {
    let of_total = |energy: Energy| format!("{:.4}%", share(energy, total) * 100.0);
    let name = shortened(&frame.name, LONGEST_NAME);
    let attributes: Attributes = &[
        ("class", &"frame"),
        ("x", &of_total(frame.from)),
        ("y", &(TOP + frame.level * ROW)),
        ("width", &of_total(frame.energy)),
        ("height", &ROW),
        ("role", &"button"),
        ("tabindex", &"-1"),
        ("aria-label", &frame.about),
        ("data-name", &name),
        ("data-level", &frame.level),
    ];
    svg.open("svg", attributes);
    svg.text("title", &[], &frame.about);
    let rect: Attributes = &[
        ("class", &frame.class),
        ("width", &"100%"),
        ("height", &(ROW - 1)),
    ];
    svg.empty("rect", rect);
    svg.text("text", &[("x", &4), ("y", &14)], &name);
    svg.close("svg");
    svg.line_break();
}

/// Where each frame is.
struct Layout<'a> {
    attribution: &'a Attribution,
    /// The frames within each, and with all that they called.
    children: Vec<Vec<usize>>,
    energy: Vec<Energy>,
    drawn: Vec<Drawn>,
}

impl<'a> Layout<'a> {
    fn of(attribution: &'a Attribution) -> Self {
        let frames = &attribution.frames;
        let mut energy: Vec<Energy> = frames
            .iter()
            .map(|frame| Energy::from_steps(frame.own.energy))
            .collect();
        let mut children = vec![Vec::new(); frames.len()];
        for (place, frame) in frames.iter().enumerate().rev() {
            if let Some(parent) = frame.parent {
                let sum = energy[place];
                energy[parent] += sum;
                children[parent].push(place);
            }
        }
        for siblings in &mut children {
            siblings.sort_by_key(|place| std::cmp::Reverse(energy[*place]));
        }
        let mut layout = Self {
            attribution,
            children,
            energy,
            drawn: Vec::new(),
        };
        let least = layout.least();
        layout.draw_run(least);
        layout
    }

    /// The least energy of a frame that is drawn.
    fn least(&self) -> Energy {
        let mut all = self.energy.clone();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let of_many = all.get(MOST_FRAMES).copied().unwrap_or(Energy::ZERO);
        let total = self.attribution.total();
        let of_share = Energy::from_kwh(total.kwh() * LEAST_SHARE).unwrap_or(Energy::ZERO);
        of_many.max(of_share).max(Energy::from_steps(1))
    }

    fn draw_run(&mut self, least: Energy) {
        let attribution = self.attribution;
        let total = attribution.total();
        let run = attribution.run.as_deref().unwrap_or("run");
        self.drawn.push(Drawn {
            name: run.to_owned(),
            class: format!("kind-{}", kind(run)),
            about: format!("{run}: {}", joules(total)),
            from: Energy::ZERO,
            energy: total,
            level: 0,
        });
        let has_devices = attribution.devices.len() > 1;
        let mut from = Energy::ZERO;
        for (place, of_device) in attribution.devices.iter().enumerate() {
            let (energy, uncovered) = (of_device.energy, of_device.uncovered);
            if has_devices && energy >= least {
                let name = of_device.device.name.clone();
                self.push("none", name, from, energy, 1, "");
            }
            let level = 1 + usize::from(has_devices);
            let mut outermost: Vec<usize> = (0..attribution.frames.len())
                .filter(|frame| {
                    let frame = &attribution.frames[*frame];
                    frame.parent.is_none() && frame.device == place
                })
                .collect();
            outermost.sort_by_key(|frame| std::cmp::Reverse(self.energy[*frame]));
            let mut at = from;
            for frame in outermost {
                self.draw_tree(frame, at, level, least);
                at += self.energy[frame];
            }
            if uncovered >= least {
                self.push("none", "not covered".to_owned(), at, uncovered, level, "");
            }
            from += energy;
        }
    }

    /// Without recursion: paths may be deeper than the stack of a thread allows.
    fn draw_tree(&mut self, outermost: usize, from: Energy, level: usize, least: Energy) {
        let mut waiting = vec![(outermost, from, level)];
        while let Some((place, from, level)) = waiting.pop() {
            let energy = self.energy[place];
            if energy < least || level > MOST_LEVELS {
                continue;
            }
            let frame = &self.attribution.frames[place];
            let name = match frame.name {
                Some(name) => self.attribution.names.text(name).to_owned(),
                None => "(further paths)".to_owned(),
            };
            let class = format!("kind-{}", kind(&name));
            self.push(&class, name, from, energy, level, &self.facts(frame));
            let first = waiting.len();
            let mut at = from;
            for child in &self.children[place] {
                waiting.push((*child, at, level + 1));
                at += self.energy[*child];
            }
            // From left to right, as the keyboard goes.
            waiting[first..].reverse();
        }
    }

    fn push(
        &mut self,
        class: &str,
        name: String,
        from: Energy,
        energy: Energy,
        level: usize,
        facts: &str,
    ) {
        let of_total = percent(share(energy, self.attribution.total()));
        self.drawn.push(Drawn {
            about: format!(
                "{}: {}, {of_total}{facts}",
                shortened(&name, LONGEST_NAME),
                joules(energy)
            ),
            name,
            class: class.to_owned(),
            from,
            energy,
            level,
        });
    }

    fn facts(&self, frame: &Frame) -> String {
        let own = frame.own;
        let mut facts = format!("; itself {}", joules(Energy::from_steps(own.energy)));
        if self.attribution.knows_seconds() {
            let hours = own.nanoseconds as f64 / 1e9 / SECONDS_PER_HOUR;
            facts.push_str(&format!(" in {}", Quantity::Time.amount(hours)));
        }
        if own.calls > 0 {
            facts.push_str(&format!("; {}", counted(own.calls, "call")));
        }
        facts
    }
}

fn share(energy: Energy, total: Energy) -> f64 {
    if total == Energy::ZERO {
        return 0.0;
    }
    energy.kwh() / total.kwh()
}
