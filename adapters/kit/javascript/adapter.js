// The adapter: runs a case on the engine, injects its failures, and reports observations.
//
// It judges nothing and repairs nothing. stdout is the protocol, one JSON object a line; print messages of your
// own to stderr (console.error).

const { writeSync } = require('node:fs')
const { createInterface } = require('node:readline')
const { Crashed, Durable, TrivialEngine } = require('./engine.js')
const { PROGRAMS } = require('./programs.js')

const DESCRIPTION = {
  protocol: 1,
  engine: { name: 'my-engine', version: '0.1', settings: {} },
  epochs: 'given', // one epoch of the engine for each of the case; 'own' if the engine places its borders itself
  atomic: true, // all streams are committed in one act
  snapshots: 'aligned',
  failures: ['crash', 'restart'], // what the adapter can make happen; more: 'kill:worker', 'kill:coordinator'
  programs: Object.keys(PROGRAMS),
}

// At once, and all of it: a pipe takes as much as it likes at a time.
function say(answer) {
  let rest = Buffer.from(JSON.stringify(answer) + '\n')
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

// One case, from its start to its end, through all that happens to it.
class CaseRunner {
  constructor(request) {
    this.id = request.id
    this.case = request.case
    this.shown = request.streams
    this.failures = this.case.failures ?? []
    this.fired = 0 // failures happen in their order, each once
    this.durable = new Durable(this.case.graph)
  }

  // Start the engine, or start it again: from what is durable, and from nothing else.
  start() {
    return new TrivialEngine(this.case.graph, this.case.inputs, this.durable)
  }

  run() {
    const epochs = Math.max(...Object.values(this.case.inputs).map((each) => each.length))
    let engine = this.start()
    while (this.durable.epoch < epochs) {
      try {
        engine.runEpoch((task, epoch, event) => this.aboutTo(task, epoch, event))
      } catch (error) {
        if (!(error instanceof Crashed)) throw error
        this.happened(error.message)
        engine = this.start()
      }
      this.show()
      while (this.restartIsDue()) {
        engine = this.start()
        this.happened(`started again with ${this.durable.epoch} epochs committed`)
        this.show()
      }
    }
    say({ id: this.id, end: 'completed' })
  }

  // Crash here, if the case says so. (If the epoch has fewer events, at its border.)
  aboutTo(task, epoch, event) {
    const failure = this.nextFailure('crash')
    if (failure && failure.task === task && failure.epoch === epoch && [failure.event, 'border'].includes(event)) {
      throw new Crashed(`${task} died in epoch ${epoch}, at ${event}`)
    }
  }

  restartIsDue() {
    const failure = this.nextFailure('restart')
    return failure !== undefined && failure.epoch <= this.durable.epoch
  }

  // The next failure of the case, if it is of this kind.
  nextFailure(kind) {
    const failure = this.failures[this.fired]
    return failure?.kind === kind ? failure : undefined
  }

  happened(evidence) {
    say({ id: this.id, fired: this.fired, evidence })
    this.fired += 1
  }

  // What can be seen now: the committed epochs of the streams that were asked for.
  show() {
    say({ id: this.id, streams: Object.fromEntries(this.shown.map((name) => [name, this.durable.streams[name]])) })
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line)
  if (request.do === 'start') say(DESCRIPTION)
  else if (request.do === 'run') new CaseRunner(request).run()
  else if (request.do === 'stop') process.exit(0)
})
