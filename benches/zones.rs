//! Looking places up: how long a cold start takes, and how long a million points.
//!
//! Prints each figure beside its budget and ends with an error if one is missed.

mod bounds;

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bounds::Bounds;
use geo::{BoundingRect, Contains};
use impact::grid::zone::Point;
use impact::grid::zone::map::Map;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

const STARTS: usize = 101;
const POINTS: usize = 1_000_000;
const SAMPLE: usize = 20_000;

fn main() -> ExitCode {
    let mut bounds = Bounds::default();
    cold_start(&mut bounds);
    million_points(&mut bounds);
    compare_indices();
    bounds.end()
}

/// The middle of many starts, taken in turn so that both meet the same machine.
fn cold_start(bounds: &mut Bounds) {
    let start = |program: &str, args: &[&str]| {
        let begin = Instant::now();
        let status = Command::new(program)
            .args(args)
            .stdout(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{program}");
        begin.elapsed()
    };
    let lookup = ["region", "--lat", "37.4275", "--lon", "-122.1697"];
    let (mut nothing, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        nothing.push(start("/bin/true", &[]));
        ours.push(start(env!("CARGO_BIN_EXE_impact"), &lookup));
    }
    let middle = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1000.0
    };
    let (nothing, ours) = (middle(nothing), middle(ours));
    println!("/bin/true takes {nothing:.2} ms");
    bounds.at_most("cold start to answer", ours, 3.0 * nothing + 10.0, "ms");
    bounds.at_most(
        "resident memory of a lookup",
        largest_child_mb(),
        24.0,
        "MB",
    );
}

/// The peak of all children so far; they are measured before this process grows.
fn largest_child_mb() -> f64 {
    // SAFETY: `getrusage` fills the zeroed struct it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    usage.ru_maxrss as f64 / 1024.0
}

/// Points spread evenly over degrees, the same each time.
fn points(count: usize) -> Vec<Point> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count)
        .map(|_| Point::new(next() * 180.0 - 90.0, next() * 360.0 - 180.0).expect("on Earth"))
        .collect()
}

fn million_points(bounds: &mut Bounds) {
    let begin = Instant::now();
    let map = Map::embedded();
    println!(
        "opening the whole map takes {:.1} ms",
        begin.elapsed().as_secs_f64() * 1000.0
    );
    let points = points(POINTS);
    let begin = Instant::now();
    let found = points
        .iter()
        .filter(|point| map.find(**point).is_some())
        .count();
    let seconds = begin.elapsed().as_secs_f64();
    println!("{found} of {POINTS} points have a zone");
    bounds.at_most("a million random points", seconds, 2.5, "s");
}

/// The same question, without the nearest-zone rule, asked of other indices over the same polygons.
fn compare_indices() {
    let map = Map::embedded();
    let parts: Vec<(usize, &geo::Polygon<f64>)> = map
        .areas()
        .iter()
        .enumerate()
        .flat_map(|(n, area)| area.shape().iter().map(move |part| (n, part)))
        .collect();
    let boxes: Vec<geo::Rect<f64>> = parts
        .iter()
        .map(|(_, part)| part.bounding_rect().expect("not empty"))
        .collect();
    let tree = RTree::bulk_load(
        boxes
            .iter()
            .enumerate()
            .map(|(n, b)| {
                GeomWithData::new(
                    Rectangle::from_corners([b.min().x, b.min().y], [b.max().x, b.max().y]),
                    n,
                )
            })
            .collect(),
    );
    let points = points(SAMPLE);
    let at = |point: &Point| geo::Coord {
        x: point.lon(),
        y: point.lat(),
    };
    let time = |name: &str, find: &dyn Fn(&Point) -> bool| {
        let begin = Instant::now();
        let found = points.iter().filter(|point| find(point)).count();
        let each = begin.elapsed().as_secs_f64() * 1e6 / SAMPLE as f64;
        println!("{name:<34} {each:>9.3} us a point ({found} found)");
    };
    time("cells of a degree, edges in bands", &|point| {
        map.find(*point).is_some()
    });
    time("rstar over boxes, geo's contains", &|point| {
        let envelope = AABB::from_point([point.lon(), point.lat()]);
        tree.locate_in_envelope_intersecting(envelope)
            .any(|hit| parts[hit.data].1.contains(&at(point)))
    });
    time("every box in turn, geo's contains", &|point| {
        boxes
            .iter()
            .zip(&parts)
            .any(|(b, (_, part))| b.contains(&at(point)) && part.contains(&at(point)))
    });
}
