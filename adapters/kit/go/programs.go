// The ten programs that a task can run.

package main

import (
	"encoding/json"
	"fmt"
)

const prime = 2147483647

var programNames = []string{
	"map", "filter", "repeat", "sum", "count", "digest", "distinct", "batch", "average", "keyed_sum",
}

// value is what a stream carries: an integer or a text.
type value struct {
	number int64
	text   string
	isText bool
}

func (v *value) UnmarshalJSON(data []byte) error {
	v.isText = data[0] == '"'
	if v.isText {
		return json.Unmarshal(data, &v.text)
	}
	return json.Unmarshal(data, &v.number)
}

func (v value) MarshalJSON() ([]byte, error) {
	if v.isText {
		return json.Marshal(v.text)
	}
	return json.Marshal(v.number)
}

func (v value) String() string {
	if v.isText {
		return v.text
	}
	return fmt.Sprint(v.number)
}

// program has a name and the parameters that belong to it; the others are 0.
type program struct {
	Op                                     string
	Mul, Add, Mod, Keep, Times, Size, Keys int64
}

// state is what a program remembers; each uses the fields that it needs. Maps are never changed, only replaced: so a
// snapshot of a state is a copy of the struct.
type state struct {
	number, total int64
	seen          map[int64]bool
	totals        map[int64]int64 // by key
}

func (p program) initial() state {
	if p.Op == "digest" {
		return state{total: 7}
	}
	return state{}
}

// step handles one event: it gives the next state and what is emitted. Text passes through and changes nothing, but for
// a reset of an average.
func (p program) step(s state, event value) (state, []value) {
	if event.isText {
		if p.Op == "average" && event.text == "reset" {
			return p.initial(), nil
		}
		return s, []value{event}
	}
	next, numbers := p.stepNumber(s, event.number)
	var emitted []value
	for _, number := range numbers {
		emitted = append(emitted, value{number: number})
	}
	return next, emitted
}

func (p program) stepNumber(s state, w int64) (state, []int64) {
	switch p.Op {
	case "map":
		return s, []int64{(w*p.Mul + p.Add) % prime}
	case "filter":
		if w%p.Mod != p.Keep {
			return s, nil
		}
		return s, []int64{w}
	case "repeat":
		var times []int64
		for len(times) < int(p.Times) {
			times = append(times, w)
		}
		return s, times
	case "sum":
		s.total = (s.total + w) % prime
		return s, []int64{s.total}
	case "count":
		s.number++
		return s, []int64{s.number}
	case "digest":
		s.total = (s.total*31 + w + 1) % prime
		return s, []int64{s.total}
	case "distinct":
		if s.seen[w] {
			return s, nil
		}
		s.seen = with(s.seen, w, true)
		return s, []int64{w}
	case "batch":
		s.number, s.total = s.number+1, (s.total+w)%prime
		if s.number < p.Size {
			return s, nil
		}
		return p.initial(), []int64{s.total}
	case "average":
		s.number, s.total = s.number+1, s.total+w
		return s, []int64{s.total / s.number}
	case "keyed_sum":
		key := w % p.Keys
		s.totals = with(s.totals, key, (s.totals[key]+w)%prime)
		return s, []int64{s.totals[key]}
	}
	panic("no program " + p.Op)
}

// with gives a copy of a map that has this value for this key.
func with[K comparable, V any](original map[K]V, key K, v V) map[K]V {
	changed := copied(original)
	changed[key] = v
	return changed
}

func copied[K comparable, V any](original map[K]V) map[K]V {
	made := make(map[K]V, len(original))
	for key, v := range original {
		made[key] = v
	}
	return made
}
