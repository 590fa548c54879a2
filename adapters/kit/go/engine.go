// The trivial engine: replace it by yours.
//
// It runs a graph epoch by epoch, in memory. What it has computed in an epoch is volatile until all tasks have passed
// the border; then it is committed in one act, together with the state of every task. durable is what survives a
// crash, and nothing else does.

package main

type graph struct {
	Sources []string
	Tasks   []task
}

type task struct {
	Name    string
	Inputs  []string
	Output  string
	Program program
}

// crashed is the error of a task that has died, and everything volatile with it.
type crashed struct{ how string }

func (c crashed) Error() string { return c.how }

// border is what a task passes behind the last event of an epoch.
var border = value{text: "border", isText: true}

// durable is what a crash leaves: the committed epochs of every stream, and the state of every task at the last border.
type durable struct {
	streams map[string][][]value
	states  map[string]state
	epoch   int
}

func newDurable(g graph) *durable {
	d := &durable{streams: map[string][][]value{}, states: map[string]state{}}
	for _, source := range g.Sources {
		d.streams[source] = [][]value{} // not nil, which is null in JSON
	}
	for _, task := range g.Tasks {
		d.streams[task.Output] = [][]value{}
		d.states[task.Name] = task.Program.initial()
	}
	return d
}

// commit commits one epoch, of all streams at once.
func (d *durable) commit(streams map[string][]value, states map[string]state) {
	for name, events := range streams {
		d.streams[name] = append(d.streams[name], events)
	}
	d.states = states
	d.epoch++
}

// trivialEngine is the graph, started from what is durable. After a crash, make a new one.
type trivialEngine struct {
	tasks   []task
	inputs  map[string][][]value
	durable *durable
	states  map[string]state // volatile
}

func newTrivialEngine(g graph, inputs map[string][][]value, d *durable) *trivialEngine {
	return &trivialEngine{tasks: inOrder(g), inputs: inputs, durable: d, states: copied(d.states)}
}

// runEpoch runs the next epoch. aboutTo is asked before every step; an error of it, such as crashed, ends the run.
func (e *trivialEngine) runEpoch(aboutTo func(task string, epoch int, event value) error) error {
	epoch := e.durable.epoch + 1
	streams := map[string][]value{}
	for name, epochs := range e.inputs {
		streams[name] = epochs[epoch-1]
	}
	for _, task := range e.tasks {
		output := []value{} // not nil, which is null in JSON
		for number, event := range takenInTurn(task.Inputs, streams) {
			if err := aboutTo(task.Name, epoch, value{number: int64(number)}); err != nil {
				return err
			}
			next, emitted := task.Program.step(e.states[task.Name], event)
			e.states[task.Name] = next
			output = append(output, emitted...)
		}
		if err := aboutTo(task.Name, epoch, border); err != nil {
			return err
		}
		streams[task.Output] = output
	}
	e.durable.commit(streams, copied(e.states))
	return nil
}

// takenInTurn gives the events of several inputs, one of each after the other; any order would do that keeps each
// input's own.
func takenInTurn(inputs []string, streams map[string][]value) []value {
	var events []value
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, name := range inputs {
			if turn < len(streams[name]) {
				events = append(events, streams[name][turn])
				more = true
			}
		}
	}
	return events
}

// inOrder gives the tasks, each behind those that it reads from.
func inOrder(g graph) []task {
	ready := map[string]bool{}
	for _, source := range g.Sources {
		ready[source] = true
	}
	var ordered []task
	// A graph has no cycle, so each round finds a task at least.
	for len(ordered) < len(g.Tasks) {
		for _, task := range g.Tasks {
			if !ready[task.Output] && allIn(ready, task.Inputs) {
				ordered = append(ordered, task)
				ready[task.Output] = true
			}
		}
	}
	return ordered
}

func allIn(set map[string]bool, names []string) bool {
	for _, name := range names {
		if !set[name] {
			return false
		}
	}
	return true
}
