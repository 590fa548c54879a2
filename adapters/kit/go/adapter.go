// The adapter: runs a case on the engine, injects its failures, and reports observations.
//
// It judges nothing and repairs nothing. stdout is the protocol, one JSON object a line; print messages of your own to
// stderr (the package log does).
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
)

type object map[string]any

var description = object{
	"protocol":  1,
	"engine":    object{"name": "my-engine", "version": "0.1", "settings": object{}},
	"epochs":    "given", // one epoch of the engine for each of the case; "own" if it places its borders itself
	"atomic":    true,    // all streams are committed in one act
	"snapshots": "aligned",
	"failures":  []string{"crash", "restart"}, // what the adapter can make happen; more: "kill:worker"
	"programs":  programNames,
}

// request has what is needed of the requests. Package json finds fields by their names, in upper or lower case, and
// ignores all others.
type request struct {
	Do      string
	ID      int
	Case    caseToRun
	Streams []string
}

type caseToRun struct {
	Graph    graph
	Inputs   map[string][][]value
	Failures []failure
}

type failure struct {
	Kind  string
	Task  string
	Epoch int
	Event value // where the task crashes: the number of an event, or "border"
}

func main() {
	requests := json.NewDecoder(os.Stdin)
	for {
		var next request
		if err := requests.Decode(&next); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		switch next.Do {
		case "start":
			say(description)
		case "run":
			if err := newCaseRunner(next).run(); err != nil {
				log.Fatal(err)
			}
		case "stop":
			return
		default:
			log.Printf("not understood: %q", next.Do)
		}
	}
}

// say writes one line; stdout has no buffer that would have to be flushed.
func say(answer object) {
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}

// caseRunner is one case, from its start to its end, through all that happens to it.
type caseRunner struct {
	request
	fired   int // failures happen in their order, each once
	durable *durable
}

func newCaseRunner(asked request) *caseRunner {
	return &caseRunner{request: asked, durable: newDurable(asked.Case.Graph)}
}

// start starts the engine, or starts it again: from what is durable, and from nothing else.
func (r *caseRunner) start() *trivialEngine {
	return newTrivialEngine(r.Case.Graph, r.Case.Inputs, r.durable)
}

func (r *caseRunner) run() error {
	epochs := 0
	for _, each := range r.Case.Inputs {
		epochs = len(each) // as many for every source
	}
	engine := r.start()
	for r.durable.epoch < epochs {
		err := engine.runEpoch(r.aboutTo)
		var crash crashed
		if errors.As(err, &crash) {
			r.happened(crash.Error())
			engine = r.start()
		} else if err != nil {
			return err
		}
		r.show()
		for r.restartIsDue() {
			engine = r.start()
			r.happened(fmt.Sprintf("started again with %d epochs committed", r.durable.epoch))
			r.show()
		}
	}
	say(object{"id": r.ID, "end": "completed"})
	return nil
}

// aboutTo crashes here, if the case says so. (If the epoch has fewer events, at its border.)
func (r *caseRunner) aboutTo(task string, epoch int, event value) error {
	next := r.nextFailure("crash")
	if next != nil && next.Task == task && next.Epoch == epoch && (event == next.Event || event == border) {
		return crashed{fmt.Sprintf("%s died in epoch %d, at %v", task, epoch, event)}
	}
	return nil
}

func (r *caseRunner) restartIsDue() bool {
	next := r.nextFailure("restart")
	return next != nil && next.Epoch <= r.durable.epoch
}

// nextFailure is the next failure of the case, or nil if it is not of this kind.
func (r *caseRunner) nextFailure(kind string) *failure {
	if r.fired < len(r.Case.Failures) && r.Case.Failures[r.fired].Kind == kind {
		return &r.Case.Failures[r.fired]
	}
	return nil
}

func (r *caseRunner) happened(evidence string) {
	say(object{"id": r.ID, "fired": r.fired, "evidence": evidence})
	r.fired++
}

// show reports what can be seen now: the committed epochs of the streams that were asked for.
func (r *caseRunner) show() {
	streams := object{}
	for _, name := range r.Streams {
		streams[name] = r.durable.streams[name]
	}
	say(object{"id": r.ID, "streams": streams})
}
