"""
The ten programs that a task can run.

A program is a function of its parameters, a state and an event; it gives the next state and what it emits. States are
never changed, only replaced: so a snapshot of one is a reference to it.
"""

P = 2147483647


def map_(program, state, w):
    return state, [(w * program["mul"] + program["add"]) % P]


def filter_(program, state, w):
    return state, [w] if w % program["mod"] == program["keep"] else []


def repeat(program, state, w):
    return state, [w] * program["times"]


def sum_(_, state, w):
    total = (state + w) % P
    return total, [total]


def count(_, state, __):
    return state + 1, [state + 1]


def digest(_, state, w):
    h = (state * 31 + w + 1) % P
    return h, [h]


def distinct(_, state, w):
    return (state, []) if w in state else (state | {w}, [w])


def batch(program, state, w):
    held, total = state[0] + 1, (state[1] + w) % P
    return ((0, 0), [total]) if held == program["size"] else ((held, total), [])


def average(_, state, w):
    total, number = state[0] + w, state[1] + 1
    return (total, number), [total // number]


def keyed_sum(program, state, w):
    key = w % program["keys"]
    total = (state.get(key, 0) + w) % P
    return {**state, key: total}, [total]


# For each program what it does with an integer, and the state it begins with.
PROGRAMS = {
    "map": (map_, None),
    "filter": (filter_, None),
    "repeat": (repeat, None),
    "sum": (sum_, 0),
    "count": (count, 0),
    "digest": (digest, 7),
    "distinct": (distinct, frozenset()),
    "batch": (batch, (0, 0)),
    "average": (average, (0, 0)),
    "keyed_sum": (keyed_sum, {}),
}


def initial(program):
    return PROGRAMS[program["op"]][1]


def step(program, state, event):
    """One event. Text passes through and changes nothing, but for a reset of an average."""
    if isinstance(event, str):
        return (initial(program), []) if (program["op"], event) == ("average", "reset") else (state, [event])
    return PROGRAMS[program["op"]][0](program, state, event)
