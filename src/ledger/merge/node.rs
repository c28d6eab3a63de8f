use std::collections::{BTreeMap, BTreeSet};

use super::Device;
use super::curve::Curve;
use super::source::{Source, Trace};
use crate::model::{Component, CpuSocket, EnergyClass, Method, Present};
use crate::text::number::counted;

/// The runs that saw one machine between two boots.
#[derive(Debug)]
pub(super) struct Node<'a> {
    name: String,
    is_named: bool,
    runs: Vec<&'a Source>,
}

/// The runs by machine and boot; a run that does not name its machine is a node of its own.
///
/// A boot id is random. Containers of one machine have the same one and different host names.
pub(super) fn nodes(sources: &[Source]) -> Vec<Node<'_>> {
    let mut known: BTreeMap<Result<&str, &str>, Vec<&Source>> = BTreeMap::new();
    let mut unknown = Vec::new();
    for source in sources {
        let host = &source.info.host;
        match (&host.boot_id, &host.hostname) {
            (Some(boot), _) => known.entry(Ok(boot)).or_default().push(source),
            (None, Some(name)) => known.entry(Err(name)).or_default().push(source),
            (None, None) => unknown.push(source),
        }
    }
    let mut known: Vec<Node> = known.into_values().map(Node::of).collect();
    known.sort_by(|a, b| a.name.cmp(&b.name));
    let known = known.into_iter();
    let unknown = unknown.into_iter().enumerate().map(|(index, run)| Node {
        name: format!("unnamed-{index}"),
        is_named: false,
        runs: vec![run],
    });
    known.chain(unknown).collect()
}

impl<'a> Node<'a> {
    /// The machine of these runs, under the names it has in them.
    fn of(runs: Vec<&'a Source>) -> Self {
        let names: BTreeSet<&str> = runs
            .iter()
            .filter_map(|run| run.info.host.hostname.as_deref())
            .collect();
        let name = match names.into_iter().collect::<Vec<_>>().as_slice() {
            [] => "a host without a name".to_owned(),
            names => names.join("+"),
        };
        Self {
            name,
            is_named: true,
            runs,
        }
    }
}

/// The runs and the machines they were on, in words; logs that name no machine may share one.
pub(super) fn origin(nodes: &[Node]) -> String {
    let runs: usize = nodes
        .iter()
        .filter(|node| node.is_named)
        .map(|node| node.runs.len())
        .sum();
    let named = nodes.iter().filter(|node| node.is_named).count();
    let unnamed = nodes.len() - named;
    let on_nodes = format!("{} on {}", counted(runs, "run"), counted(named, "node"));
    match (named, unnamed) {
        (_, 0) => on_nodes,
        (0, _) => format!("{} without a recorded host", counted(unnamed, "run")),
        _ => format!("{on_nodes} and {unnamed} without a recorded host"),
    }
}

/// Every device of every node, and what a reader should know about them.
///
/// Devices of several nodes have the same names; then processors and memory get consecutive numbers.
pub(super) fn devices(nodes: &[Node]) -> (Vec<Device>, Vec<String>) {
    let mut devices = Vec::new();
    let mut remarks = Vec::new();
    let mut next: BTreeMap<EnergyClass, u16> = BTreeMap::new();
    for node in nodes {
        let components: BTreeSet<&Component> =
            node.runs.iter().flat_map(|run| run.traces.keys()).collect();
        let present: Present = components.iter().copied().collect();
        for component in &components {
            let group = component.counted_as(&present);
            let renamed = match group {
                _ if nodes.len() == 1 => (*component).clone(),
                None => continue,
                Some(group) => {
                    let number = next.entry(group).or_default();
                    let name = counted_through(component, group, *number, &node.name);
                    *number = number.saturating_add(1);
                    remarks.push(format!("{name} is {component} of {}", node.name));
                    name
                }
            };
            let traces: Vec<&Trace> = node
                .runs
                .iter()
                .filter_map(|run| run.traces.get(component))
                .collect();
            let (device, capped) = counted_once(renamed, &traces);
            if capped {
                remarks.push(format!(
                    "the runs on {} claimed more of {component} than it drew; they were scaled down",
                    node.name
                ));
            }
            devices.push(device);
        }
    }
    (devices, remarks)
}

fn counted_through(
    component: &Component,
    group: EnergyClass,
    number: u16,
    node: &str,
) -> Component {
    match (group, component) {
        (EnergyClass::Cpu, _) => Component::Package(CpuSocket::socket(number)),
        (EnergyClass::Dram, _) => Component::Dram(CpuSocket::socket(number)),
        (EnergyClass::Gpu, Component::Gpu(uuid)) => Component::Gpu(format!("{uuid}@{node}")),
        (EnergyClass::Gpu, _) => Component::Gpu(format!("all@{node}")),
    }
}

/// One device as several runs saw it, and whether they claimed more than it drew.
///
/// Between two starts or ends the same runs are there: the machine's energy is taken from one of
/// them, and the sum of what they claim is held against it.
fn counted_once(component: Component, traces: &[&Trace]) -> (Device, bool) {
    let mut edges: Vec<f64> = traces
        .iter()
        .flat_map(|trace| [trace.attributed.start(), trace.attributed.end()])
        .collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let mut machine = Curve::default();
    let mut attributed = Curve::default();
    let mut machine_known = true;
    let mut capped = false;
    let (mut machine_sum, mut attributed_sum) = (0.0, 0.0);
    if let Some(first) = edges.first() {
        machine.push(*first, 0.0);
        attributed.push(*first, 0.0);
    }
    for edge in edges.windows(2) {
        let (from, to) = (edge[0], edge[1]);
        let there: Vec<&&Trace> = traces
            .iter()
            .filter(|trace| trace.attributed.start() <= from && trace.attributed.end() >= to)
            .collect();
        let leader = there.iter().find_map(|trace| trace.machine.as_ref());
        let claimed: f64 = there
            .iter()
            .map(|trace| trace.attributed.between(from, to))
            .sum();
        let drawn = leader.map(|curve| curve.between(from, to));
        machine_known &= drawn.is_some() || there.is_empty();
        let share = match drawn {
            Some(drawn) if claimed > drawn => drawn / claimed,
            _ => 1.0,
        };
        // A difference in the last digits is rounding.
        capped |= share < 1.0 - 1e-6;
        let times = leader
            .or(there.first().map(|trace| &trace.attributed))
            .into_iter()
            .flat_map(Curve::times)
            .filter(|time| *time > from && *time < to)
            .chain([to]);
        for time in times {
            let claimed: f64 = there
                .iter()
                .map(|trace| trace.attributed.between(from, time))
                .sum();
            attributed.push(time, attributed_sum + share * claimed);
            if let Some(leader) = leader {
                machine.push(time, machine_sum + leader.between(from, time));
            }
        }
        attributed_sum += share * claimed;
        machine_sum += drawn.unwrap_or(0.0);
    }
    let device = Device {
        component,
        machine: machine_known.then_some(machine),
        attributed,
        method: common_method(traces.iter().map(|trace| &trace.method)),
    };
    (device, capped)
}

/// The method all have, else the least certain of them.
fn common_method<'a>(methods: impl Iterator<Item = &'a Method>) -> Method {
    let methods: Vec<&Method> = methods.collect();
    let models: BTreeSet<&str> = methods
        .iter()
        .filter_map(|method| match method {
            Method::Estimated { model } => Some(model.as_str()),
            _ => None,
        })
        .collect();
    if !models.is_empty() {
        let models: Vec<&str> = models.into_iter().collect();
        return Method::Estimated {
            model: models.join("; "),
        };
    }
    match methods.first() {
        Some(first) if methods.iter().all(|method| method == first) => (*first).clone(),
        _ => Method::Integrated { period_s: None },
    }
}
