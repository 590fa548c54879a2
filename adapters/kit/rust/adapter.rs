//! The adapter: runs a case on the engine, injects its failures, and reports observations.
//!
//! It judges nothing and repairs nothing. stdout is the protocol, one JSON object a line; print messages of your own to
//! stderr (`eprintln!`).

mod engine;
mod json;
mod programs;

use std::error::Error;
use std::io;

use engine::{Crashed, Durable, Graph, Point, Streams, TrivialEngine};
use json::{object, Json};
use programs::{Event, NAMES};

fn description() -> Json {
    object([
        ("protocol", 1.into()),
        (
            "engine",
            object([
                ("name", "my-engine".into()),
                ("version", "0.1".into()),
                ("settings", object([])),
            ]),
        ),
        // One epoch of the engine for each of the case; "own" if the engine places its borders itself.
        ("epochs", "given".into()),
        // All streams are committed in one act.
        ("atomic", true.into()),
        ("snapshots", "aligned".into()),
        // What the adapter can make happen; more: "kill:worker", "kill:coordinator".
        (
            "failures",
            Json::List(vec!["crash".into(), "restart".into()]),
        ),
        ("programs", Json::List(NAMES.map(Json::from).into())),
    ])
}

/// Print an answer; `println!` flushes it with its line.
fn say(answer: Json) {
    println!("{answer}");
}

enum Failure {
    Crash {
        task: String,
        epoch: usize,
        point: Point,
    },
    Restart {
        epoch: usize,
    },
}

impl Failure {
    fn from_json(json: &Json) -> Failure {
        let epoch = json["epoch"].integer() as usize;
        match json["kind"].text() {
            "crash" => Failure::Crash {
                task: json["task"].text().to_string(),
                epoch,
                point: match &json["event"] {
                    Json::Integer(number) => Point::Event(*number as usize),
                    _ => Point::Border,
                },
            },
            "restart" => Failure::Restart { epoch },
            other => panic!("{other} is not among the failures of the description"),
        }
    }
}

/// A case, as it is asked for.
struct Case {
    graph: Graph,
    inputs: Streams,
    failures: Vec<Failure>,
}

impl Case {
    fn from_json(json: &Json) -> Case {
        let events = |epoch: &Json| epoch.list().iter().map(Event::from_json).collect();
        let epochs = |stream: &Json| stream.list().iter().map(events).collect();
        let inputs = json["inputs"].fields().iter();
        let failures = match &json["failures"] {
            Json::Null => vec![],
            failures => failures.list().iter().map(Failure::from_json).collect(),
        };
        Case {
            graph: Graph::from_json(&json["graph"]),
            inputs: inputs
                .map(|(name, stream)| (name.clone(), epochs(stream)))
                .collect(),
            failures,
        }
    }
}

/// One case, from its start to its end, through all that happens to it.
struct CaseRunner<'a> {
    id: &'a Json,
    case: &'a Case,
    shown: &'a [Json],
    fired: usize, // failures happen in their order, each once
}

impl<'a> CaseRunner<'a> {
    /// Start the engine, or start it again: from what is durable, and from nothing else.
    fn start(&self, durable: Durable) -> TrivialEngine<'a> {
        TrivialEngine::start(&self.case.graph, &self.case.inputs, durable)
    }

    fn run(mut self) {
        let epochs = self.case.inputs.values().map(Vec::len).max().unwrap_or(0);
        let mut engine = self.start(Durable::new(&self.case.graph));
        while engine.durable.epoch < epochs {
            let about_to = |task: &str, epoch, point| self.about_to(task, epoch, point);
            if let Err(Crashed(how)) = engine.run_epoch(about_to) {
                self.happened(&how);
                engine = self.start(engine.durable);
            }
            self.show(&engine.durable);
            while self.restart_is_due(&engine.durable) {
                engine = self.start(engine.durable);
                self.happened(&format!(
                    "started again with {} epochs committed",
                    engine.durable.epoch
                ));
                self.show(&engine.durable);
            }
        }
        say(object([
            ("id", self.id.clone()),
            ("end", "completed".into()),
        ]));
    }

    /// Crash here, if the case says so. (If the epoch has fewer events, at its border.)
    fn about_to(&self, task: &str, epoch: usize, point: Point) -> Result<(), Crashed> {
        match self.next_failure() {
            Some(Failure::Crash {
                task: wanted,
                epoch: within,
                point: at,
            }) if (wanted.as_str(), *within) == (task, epoch)
                && [*at, Point::Border].contains(&point) =>
            {
                Err(Crashed(format!("{task} died in epoch {epoch}, at {point}")))
            }
            _ => Ok(()),
        }
    }

    fn restart_is_due(&self, durable: &Durable) -> bool {
        matches!(self.next_failure(), Some(Failure::Restart { epoch }) if *epoch <= durable.epoch)
    }

    fn next_failure(&self) -> Option<&Failure> {
        self.case.failures.get(self.fired)
    }

    fn happened(&mut self, evidence: &str) {
        let fired = ("fired", self.fired.into());
        say(object([
            ("id", self.id.clone()),
            fired,
            ("evidence", evidence.into()),
        ]));
        self.fired += 1;
    }

    /// What can be seen now: the committed epochs of the streams that were asked for.
    fn show(&self, durable: &Durable) {
        let events = |epoch: &Vec<Event>| Json::List(epoch.iter().map(Event::to_json).collect());
        let epochs = |name: &str| Json::List(durable.streams[name].iter().map(events).collect());
        let streams = self
            .shown
            .iter()
            .map(Json::text)
            .map(|name| (name.to_string(), epochs(name)));
        say(object([
            ("id", self.id.clone()),
            ("streams", Json::Object(streams.collect())),
        ]));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let request = json::read(&line?)?;
        match request["do"].text() {
            "start" => say(description()),
            "run" => {
                let case = Case::from_json(&request["case"]);
                let (id, shown) = (&request["id"], request["streams"].list());
                CaseRunner {
                    id,
                    case: &case,
                    shown,
                    fired: 0,
                }
                .run();
            }
            "stop" => return Ok(()),
            other => eprintln!("not understood: {other}"),
        }
    }
    Ok(())
}
