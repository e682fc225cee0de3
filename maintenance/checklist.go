package maintenance

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// The bounds of a check list.
const (
	maxSteps    = 100
	maxStepText = 200
)

// Step is one step of a work order's check list; the first is step 1.
type Step struct {
	Step int64  `json:"step"`
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// checkSteps refuses a check list that is too long or has an empty step, and trims it. field is its argument.
func checkSteps(field string, list []string) ([]string, error) {
	if len(list) > maxSteps {
		return nil, fault.Fieldf(field, "%s has %d steps; at most %d are allowed", field, len(list), maxSteps)
	}
	trimmed := make([]string, len(list))
	for i, s := range list {
		s = strings.TrimSpace(s)
		name := fmt.Sprintf("%s: step %d", field, i+1)
		switch err := schema.CheckText(name, s, maxStepText); {
		case err != nil:
			return nil, fault.Fieldf(field, "%s", err)
		case s == "" || strings.Contains(s, "\n"):
			return nil, fault.Fieldf(field, "%s: a step is one line of text", name)
		}
		trimmed[i] = s
	}
	return trimmed, nil
}

// openSteps makes a new check list of the texts.
func openSteps(texts []string) []Step {
	steps := make([]Step, len(texts))
	for i, t := range texts {
		steps[i] = Step{Step: int64(i + 1), Text: t}
	}
	return steps
}

// stepTexts lists the texts of a check list.
func stepTexts(steps []Step) []string {
	return schema.Map(steps, func(s Step) string { return s.Text })
}

// stepsKind is a check list as a column: a text in the table, a step a line in a cell.
var stepsKind = &record.Kind[[]Step]{
	Scan:  func(r *db.Row) []Step { return readSteps(r.Text()) },
	Cell:  stepsCell,
	Same:  slices.Equal[[]Step],
	Value: func(steps []Step) any { return keptSteps(steps) },
	Bind: func(f *schema.Form, p *[]Step, name, about string, opts ...schema.Opt) bool {
		var cell string
		if !f.Text(&cell, name, about, opts...) {
			return false
		}
		steps, err := stepsOf(cell)
		if err != nil {
			f.Refuse(name, "%s", err)
		}
		*p = steps
		return err == nil
	},
}

// openCount is how many steps are not done.
func openCount(steps []Step) (n int) {
	for _, s := range steps {
		if !s.Done {
			n++
		}
	}
	return n
}

// keptSteps is the stored form of a work order's check list: a step per line, each after 1 if it is done, else 0; nil
// without any.
func keptSteps(steps []Step) *string {
	if len(steps) == 0 {
		return nil
	}
	return db.NullText(strings.Join(schema.Map(steps, func(s Step) string { return sign(s.Done) + s.Text }), "\n"))
}

func sign(done bool) string {
	if done {
		return "1"
	}
	return "0"
}

// readSteps reads what keptSteps wrote.
func readSteps(kept string) []Step {
	if kept == "" {
		return []Step{}
	}
	lines := strings.Split(kept, "\n")
	steps := make([]Step, len(lines))
	for i, l := range lines {
		steps[i] = Step{Step: int64(i + 1), Text: l[1:], Done: l[0] == '1'}
	}
	return steps
}

// keptTexts is the stored form of a plan's check list; nil without any.
func keptTexts(texts []string) *string { return db.NullText(strings.Join(texts, "\n")) }

// readTexts reads what keptTexts wrote.
func readTexts(kept string) []string {
	if kept == "" {
		return []string{}
	}
	return strings.Split(kept, "\n")
}

// textsKind is a list of texts as a column, a text a line.
var textsKind = &record.Kind[[]string]{
	Scan:  func(r *db.Row) []string { return readTexts(r.Text()) },
	Cell:  func(texts []string) string { return strings.Join(texts, "\n") },
	Same:  slices.Equal[[]string],
	Value: func(texts []string) any { return keptTexts(texts) },
	Bind: func(f *schema.Form, p *[]string, name, about string, opts ...schema.Opt) bool {
		return f.Texts(p, name, about, maxSteps, maxStepText, opts...)
	},
}

// The marks of a step in a cell. The second is written only if the text would be read as one of them.
const (
	doneSign = "[x] "
	openSign = "[ ] "
)

// stepsCell is a check list as a cell: one step a line, [x] before a done one.
func stepsCell(steps []Step) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		switch {
		case s.Done:
			lines[i] = doneSign + s.Text
		case strings.HasPrefix(s.Text, doneSign), strings.HasPrefix(s.Text, openSign):
			lines[i] = openSign + s.Text
		default:
			lines[i] = s.Text
		}
	}
	return strings.Join(lines, "\n")
}

// stepsOf parses the result of stepsCell, or typed lines; empty lines are ignored.
func stepsOf(cell string) ([]Step, error) {
	var texts []string
	var done []bool
	for line := range strings.SplitSeq(cell, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		line = strings.TrimLeft(line, " \t")
		text, is := strings.CutPrefix(line, doneSign)
		if !is {
			text = strings.TrimPrefix(line, openSign)
		}
		texts, done = append(texts, text), append(done, is)
	}
	texts, err := checkSteps("checklist", texts)
	if err != nil {
		return nil, err
	}
	steps := openSteps(texts)
	for i := range steps {
		steps[i].Done = done[i]
	}
	return steps, nil
}

// Tick sets which step of a work order is done, or open again.
type Tick struct {
	ID   int64
	Step int64
	Done bool
}

// tickStep ticks or unticks a step of a work order's check list; an equal state changes nothing. A done or cancelled
// order and an unknown step are 422, an unknown order 404.
func tickStep(tx *db.Tx, t Tick) (none WorkOrder, err error) {
	wo, err := findWorkOrder(&tx.Conn, t.ID)
	if err != nil {
		return none, err
	}
	switch {
	case wo.Status == "done":
		return none, fault.Invalidf("work order %d is done; to change its check list, reopen it first", wo.ID)
	case closed(wo.Status):
		return none, fault.Invalidf("work order %d is %s: its check list cannot change", wo.ID, wo.Status)
	case len(wo.Checklist) == 0:
		return none, fault.Fieldf("step", "step: work order %d has no check list", wo.ID)
	case t.Step < 1 || t.Step > int64(len(wo.Checklist)):
		return none, fault.Fieldf("step", "step: work order %d has no step %d; its steps are 1 to %d", wo.ID, t.Step,
			len(wo.Checklist))
	}
	step := &wo.Checklist[t.Step-1]
	if step.Done == t.Done {
		return wo, nil
	}
	step.Done = t.Done
	tx.Do("UPDATE work_orders SET checklist = ?, updated_at = ? WHERE id = ?", keptSteps(wo.Checklist),
		tx.Now(), wo.ID)
	if err := tx.Audit("workorder.step", db.Subject("work_order", wo.ID), step); err != nil {
		return none, err
	}
	return findWorkOrder(&tx.Conn, wo.ID)
}

func (s *Service) tickStep() schema.Op {
	return schema.Op{
		Name:   "tick_step",
		About:  "Tick or untick a step of a work order's check list, while the order is open or in progress.",
		Writes: true, Idempotent: true, Response: sampleOrder,
		Bind: schema.Writes(s.db, func(f *schema.Form, t *Tick) {
			*t = Tick{Done: true}
			f.ID(&t.ID, "id", "the work order", orderPositional, schema.Required, schema.Choices(jobChoices))
			f.Int(&t.Step, "step", "the number of the step, from 1", schema.Required, schema.Range(1, maxSteps),
				schema.Positional("STEP"))
			f.Bool(&t.Done, "done", "false unticks it")
		}, tickStep),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance tick-step 12 2\nmaintenance tick-step 12 2 --done=false",
		Did: schema.Said(func(wo WorkOrder) string {
			return fmt.Sprintf("Work order %d: %d of %d steps are done.", wo.ID, len(wo.Checklist)-openCount(wo.Checklist),
				len(wo.Checklist))
		}),
		Leads: leadsToOrder,
	}
}
