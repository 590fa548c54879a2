// The trivial engine: replace it by yours.
//
// It runs a graph epoch by epoch, in memory. What it has computed in an epoch is volatile until all tasks have passed
// the border; then it is committed in one act, together with the state of every task. `Durable` is what survives a
// crash, and nothing else does.

const { initial, step } = require('./programs.js')

// A task has died, and everything volatile with it.
class Crashed extends Error {}

// What a crash leaves: the committed epochs of every stream, and the state of every task at the last border.
class Durable {
  constructor(graph) {
    const names = [...graph.sources, ...graph.tasks.map((task) => task.output)]
    this.streams = Object.fromEntries(names.map((name) => [name, []]))
    this.states = new Map(graph.tasks.map((task) => [task.name, initial(task.program)]))
    this.epoch = 0
  }

  // One epoch, of all streams at once.
  commit(streams, states) {
    for (const [name, events] of streams) this.streams[name].push(events)
    this.states = states
    this.epoch += 1
  }
}

// The graph, started from what is durable. After a crash, make a new one.
class TrivialEngine {
  constructor(graph, inputs, durable) {
    this.tasks = inOrder(graph)
    this.inputs = inputs
    this.durable = durable
    this.states = new Map(durable.states) // volatile
  }

  // The next epoch. `aboutTo(task, epoch, event)` is asked before every step, and may throw `Crashed`.
  runEpoch(aboutTo) {
    const epoch = this.durable.epoch + 1
    const streams = new Map(Object.entries(this.inputs).map(([name, epochs]) => [name, epochs[epoch - 1]]))
    for (const task of this.tasks) {
      const output = []
      takenInTurn(task.inputs.map((name) => streams.get(name))).forEach((event, number) => {
        aboutTo(task.name, epoch, number)
        const [state, emitted] = step(task.program, this.states.get(task.name), event)
        this.states.set(task.name, state)
        output.push(...emitted)
      })
      aboutTo(task.name, epoch, 'border')
      streams.set(task.output, output)
    }
    this.durable.commit(streams, new Map(this.states))
  }
}

// The events of several inputs, one of each after the other; any order would do that keeps each input's own.
function takenInTurn(inputs) {
  const turns = Math.max(...inputs.map((events) => events.length))
  return Array.from({ length: turns }, (_, turn) =>
    inputs.filter((events) => turn < events.length).map((events) => events[turn])).flat()
}

// The tasks, each behind those that it reads from.
function inOrder(graph) {
  const ready = new Set(graph.sources)
  const waiting = [...graph.tasks]
  const ordered = []
  while (waiting.length > 0) {
    const place = waiting.findIndex((task) => task.inputs.every((name) => ready.has(name)))
    const [task] = waiting.splice(place, 1)
    ordered.push(task)
    ready.add(task.output)
  }
  return ordered
}

module.exports = { Crashed, Durable, TrivialEngine }
