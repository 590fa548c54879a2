//! The ten programs that a task can run.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Json;

const P: i64 = 2147483647;

pub const NAMES: [&str; 10] = [
    "map",
    "filter",
    "repeat",
    "sum",
    "count",
    "digest",
    "distinct",
    "batch",
    "average",
    "keyed_sum",
];

/// What a stream carries.
#[derive(Clone, Debug)]
pub enum Event {
    Integer(i64),
    Text(String),
}

impl Event {
    pub fn from_json(json: &Json) -> Event {
        match json {
            Json::Text(text) => Event::Text(text.clone()),
            other => Event::Integer(other.integer()),
        }
    }

    pub fn to_json(&self) -> Json {
        match self {
            Event::Integer(integer) => Json::Integer(*integer),
            Event::Text(text) => Json::Text(text.clone()),
        }
    }
}

/// A program with its parameters and its state. A snapshot of the state is a clone of the program.
#[derive(Clone, Debug)]
pub enum Program {
    Map {
        mul: i64,
        add: i64,
    },
    Filter {
        modulus: i64,
        keep: i64,
    },
    Repeat {
        times: i64,
    },
    Sum {
        total: i64,
    },
    Count {
        number: i64,
    },
    Digest {
        hash: i64,
    },
    Distinct {
        seen: BTreeSet<i64>,
    },
    Batch {
        size: i64,
        number: i64,
        total: i64,
    },
    Average {
        number: i64,
        total: i64,
    },
    KeyedSum {
        keys: i64,
        totals: BTreeMap<i64, i64>,
    },
}

impl Program {
    /// A program in the state it begins with.
    pub fn from_json(json: &Json) -> Program {
        let parameter = |name| json[name].integer();
        match json["op"].text() {
            "map" => Program::Map {
                mul: parameter("mul"),
                add: parameter("add"),
            },
            "filter" => Program::Filter {
                modulus: parameter("mod"),
                keep: parameter("keep"),
            },
            "repeat" => Program::Repeat {
                times: parameter("times"),
            },
            "sum" => Program::Sum { total: 0 },
            "count" => Program::Count { number: 0 },
            "digest" => Program::Digest { hash: 7 },
            "distinct" => Program::Distinct {
                seen: BTreeSet::new(),
            },
            "batch" => Program::Batch {
                size: parameter("size"),
                number: 0,
                total: 0,
            },
            "average" => Program::Average {
                number: 0,
                total: 0,
            },
            "keyed_sum" => Program::KeyedSum {
                keys: parameter("keys"),
                totals: BTreeMap::new(),
            },
            other => panic!("no program {other}"),
        }
    }

    /// Handle one event: change the state, and give what is emitted.
    ///
    /// Text passes through and changes nothing, but for a reset of an average.
    pub fn step(&mut self, event: &Event) -> Vec<Event> {
        match (event, self) {
            (Event::Integer(w), program) => program
                .step_integer(*w)
                .into_iter()
                .map(Event::Integer)
                .collect(),
            (Event::Text(text), Program::Average { number, total }) if text == "reset" => {
                (*number, *total) = (0, 0);
                vec![]
            }
            (text, _) => vec![text.clone()],
        }
    }

    fn step_integer(&mut self, w: i64) -> Vec<i64> {
        match self {
            Program::Map { mul, add } => vec![(w * *mul + *add) % P],
            Program::Filter { modulus, keep } => once_if(w % *modulus == *keep, w),
            Program::Repeat { times } => vec![w; *times as usize],
            Program::Sum { total } => {
                *total = (*total + w) % P;
                vec![*total]
            }
            Program::Count { number } => {
                *number += 1;
                vec![*number]
            }
            Program::Digest { hash } => {
                *hash = (*hash * 31 + w + 1) % P;
                vec![*hash]
            }
            Program::Distinct { seen } => once_if(seen.insert(w), w),
            Program::Batch {
                size,
                number,
                total,
            } => {
                (*number, *total) = (*number + 1, (*total + w) % P);
                if *number < *size {
                    return vec![];
                }
                let sum = *total;
                (*number, *total) = (0, 0);
                vec![sum]
            }
            Program::Average { number, total } => {
                (*number, *total) = (*number + 1, *total + w);
                vec![*total / *number]
            }
            Program::KeyedSum { keys, totals } => {
                let total = totals.entry(w % *keys).or_insert(0);
                *total = (*total + w) % P;
                vec![*total]
            }
        }
    }
}

fn once_if(is_emitted: bool, w: i64) -> Vec<i64> {
    if is_emitted {
        vec![w]
    } else {
        vec![]
    }
}
