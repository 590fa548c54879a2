// The ten programs that a task can run.
//
// A program is a function of its parameters, a state and an event; it gives the next state and what it emits. States
// are never changed, only replaced: so a snapshot of one is a reference to it. No number exceeds 2^53.

const P = 2147483647

// For each program the state it begins with, and what it does with an integer.
const PROGRAMS = {
  map: [null, ({ mul, add }, state, w) => [state, [(w * mul + add) % P]]],
  filter: [null, ({ mod, keep }, state, w) => [state, w % mod === keep ? [w] : []]],
  repeat: [null, ({ times }, state, w) => [state, Array(times).fill(w)]],
  sum: [0, (_, state, w) => [(state + w) % P, [(state + w) % P]]],
  count: [0, (_, state, w) => [state + 1, [state + 1]]],
  digest: [7, (_, state, w) => [(state * 31 + w + 1) % P, [(state * 31 + w + 1) % P]]],
  distinct: [new Set(), (_, state, w) => (state.has(w) ? [state, []] : [new Set([...state, w]), [w]])],
  batch: [[0, 0], ({ size }, [held, total], w) =>
    held + 1 === size ? [[0, 0], [(total + w) % P]] : [[held + 1, (total + w) % P], []]],
  average: [[0, 0], (_, [total, number], w) =>
    [[total + w, number + 1], [Math.floor((total + w) / (number + 1))]]],
  keyed_sum: [new Map(), ({ keys }, state, w) => {
    const total = ((state.get(w % keys) ?? 0) + w) % P
    return [new Map([...state, [w % keys, total]]), [total]]
  }],
}

const initial = (program) => PROGRAMS[program.op][0]

// One event. Text passes through and changes nothing, but for a reset of an average.
function step(program, state, event) {
  if (typeof event === 'string') {
    return program.op === 'average' && event === 'reset' ? [initial(program), []] : [state, [event]]
  }
  return PROGRAMS[program.op][1](program, state, event)
}

module.exports = { PROGRAMS, initial, step }
