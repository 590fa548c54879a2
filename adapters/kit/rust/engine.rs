//! The trivial engine: replace it by yours.
//!
//! It runs a graph epoch by epoch, in memory. What it has computed in an epoch is volatile until all tasks have passed
//! the border; then it is committed in one act, together with the state of every task. `Durable` is what survives a
//! crash, and nothing else does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Result as Written};

use crate::json::Json;
use crate::programs::{Event, Program};

/// The epochs of each stream.
pub type Streams = BTreeMap<String, Vec<Vec<Event>>>;

pub struct Graph {
    sources: Vec<String>,
    tasks: Vec<Task>,
}

struct Task {
    name: String,
    inputs: Vec<String>,
    output: String,
    program: Program,
}

impl Graph {
    pub fn from_json(json: &Json) -> Graph {
        let names = |json: &Json| {
            json.list()
                .iter()
                .map(|name| name.text().to_string())
                .collect()
        };
        let task = |json: &Json| Task {
            name: json["name"].text().to_string(),
            inputs: names(&json["inputs"]),
            output: json["output"].text().to_string(),
            program: Program::from_json(&json["program"]),
        };
        Graph {
            sources: names(&json["sources"]),
            tasks: json["tasks"].list().iter().map(task).collect(),
        }
    }

    /// The tasks, each behind those that it reads from.
    fn in_order(&self) -> Vec<&Task> {
        let mut ready: BTreeSet<&String> = self.sources.iter().collect();
        let mut waiting: Vec<&Task> = self.tasks.iter().collect();
        let mut ordered = Vec::new();
        while !waiting.is_empty() {
            let is_ready = |task: &&Task| task.inputs.iter().all(|name| ready.contains(name));
            let place = waiting
                .iter()
                .position(is_ready)
                .expect("a graph has no cycle");
            let task = waiting.remove(place);
            ready.insert(&task.output);
            ordered.push(task);
        }
        ordered
    }
}

/// What a crash leaves: the committed epochs of every stream, and the state of every task at the last border.
pub struct Durable {
    pub streams: Streams,
    pub epoch: usize,
    states: BTreeMap<String, Program>,
}

impl Durable {
    pub fn new(graph: &Graph) -> Durable {
        let outputs = graph.tasks.iter().map(|task| &task.output);
        let streams = graph.sources.iter().chain(outputs);
        let states = graph
            .tasks
            .iter()
            .map(|task| (task.name.clone(), task.program.clone()));
        Durable {
            streams: streams.map(|name| (name.clone(), Vec::new())).collect(),
            epoch: 0,
            states: states.collect(),
        }
    }

    /// One epoch, of all streams at once.
    fn commit(
        &mut self,
        streams: BTreeMap<&String, Vec<Event>>,
        states: BTreeMap<String, Program>,
    ) {
        for (name, events) in streams {
            self.streams
                .get_mut(name)
                .expect("a stream of the graph")
                .push(events);
        }
        self.states = states;
        self.epoch += 1;
    }
}

/// Where a task can crash: when it is about to handle an event, counted from 0, or to pass the border.
#[derive(Clone, Copy, PartialEq)]
pub enum Point {
    Event(usize),
    Border,
}

impl Display for Point {
    fn fmt(&self, out: &mut Formatter) -> Written {
        match self {
            Point::Event(number) => write!(out, "event {number}"),
            Point::Border => write!(out, "the border"),
        }
    }
}

/// A task has died, and everything volatile with it. The text says how.
pub struct Crashed(pub String);

/// The graph, started from what is durable. After a crash, make a new one.
pub struct TrivialEngine<'a> {
    tasks: Vec<&'a Task>,
    inputs: &'a Streams,
    states: BTreeMap<String, Program>, // volatile
    pub durable: Durable,
}

impl<'a> TrivialEngine<'a> {
    /// The engine owns what is durable. To start it again is to move that, and nothing else, into a new engine.
    pub fn start(graph: &'a Graph, inputs: &'a Streams, durable: Durable) -> TrivialEngine<'a> {
        TrivialEngine {
            tasks: graph.in_order(),
            inputs,
            states: durable.states.clone(),
            durable,
        }
    }

    /// The next epoch. `about_to` is asked before every step of a task, and may make it crash.
    pub fn run_epoch(
        &mut self,
        about_to: impl Fn(&str, usize, Point) -> Result<(), Crashed>,
    ) -> Result<(), Crashed> {
        let epoch = self.durable.epoch + 1;
        let mut streams: BTreeMap<&String, Vec<Event>> = self
            .inputs
            .iter()
            .map(|(name, epochs)| (name, epochs[epoch - 1].clone()))
            .collect();
        for task in &self.tasks {
            let state = self
                .states
                .get_mut(&task.name)
                .expect("a task of the graph");
            let mut output = Vec::new();
            let inputs: Vec<&[Event]> = task.inputs.iter().map(|name| &streams[name][..]).collect();
            for (number, event) in taken_in_turn(&inputs).into_iter().enumerate() {
                about_to(&task.name, epoch, Point::Event(number))?;
                output.extend(state.step(event));
            }
            about_to(&task.name, epoch, Point::Border)?;
            streams.insert(&task.output, output);
        }
        self.durable.commit(streams, self.states.clone());
        Ok(())
    }
}

/// The events of several inputs, one of each after the other; any order would do that keeps each input's own.
fn taken_in_turn<'a>(inputs: &[&'a [Event]]) -> Vec<&'a Event> {
    let turns = inputs.iter().map(|events| events.len()).max().unwrap_or(0);
    (0..turns)
        .flat_map(|turn| inputs.iter().filter_map(move |events| events.get(turn)))
        .collect()
}
