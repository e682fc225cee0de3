package schema

import (
	"slices"
	"strings"

	"quartermaster/schema/fault"
)

// Transitions is a state machine: each state with its next states. It is the only definition of a record's moves: it
// checks, fills the enum in the OpenAPI document and in the tool, and gives the refusals' text and the prose.
type Transitions []State

// State is one state and its next ones; To is empty for a terminal one.
type State struct {
	Name string
	To   []string
}

// States lists the states in order.
func (m Transitions) States() []string {
	return Map(m, func(s State) string { return s.Name })
}

// From lists the states that may follow from.
func (m Transitions) From(from string) []string {
	for _, s := range m {
		if s.Name == from {
			return s.To
		}
	}
	return nil
}

// Prose lists every move: "open to done or cancelled, done to open".
func (m Transitions) Prose() string {
	var moves []string
	for _, s := range m {
		if len(s.To) > 0 {
			moves = append(moves, s.Name+" to "+strings.Join(s.To, " or "))
		}
	}
	return strings.Join(moves, ", ")
}

// Check refuses a move that the machine does not allow, naming those it does. noun is the record: "work order".
func (m Transitions) Check(noun, from, to string) error {
	next := m.From(from)
	if slices.Contains(next, to) {
		return nil
	}
	if len(next) == 0 {
		return fault.Invalidf("status: a %s that is %s cannot move to %s: %s is final, no move is allowed from it", noun,
			from, to, from)
	}
	return fault.Invalidf("status: a %s that is %s cannot move to %s; allowed from %s: %s", noun, from, to, from,
		strings.Join(next, ", ")).At("status")
}
