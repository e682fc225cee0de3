package maintenance

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// JobUpdate is an agent's change of a job in one call: fields, additional minutes, parts taken and returned, and done
// steps.
type JobUpdate struct {
	OrderChange
	AddMinutes int64
	Part       string
	Qty        exact.Milli
	ReturnPart string
	ReturnQty  exact.Milli
	Ticks      []int64
}

// JobUpdated is the job afterwards. Of its amounts only parts_cost is not in cents.
type JobUpdated struct {
	Detail
	PartsCostIn string `json:"parts_cost_in"`
}

// updateJob does it in one transaction: all of it, or nothing.
func updateJob(tx *db.Tx, u JobUpdate) (d JobUpdated, err error) {
	if err := toPerson(&tx.Conn, u.AssignedTo, u.newPerson); err != nil {
		return d, err
	}
	held, err := findWorkOrder(&tx.Conn, u.ID)
	if err != nil {
		return d, err
	}
	if u.AddMinutes > 0 {
		u.LaborMinutes, u.Sent["labor_minutes"] = held.LaborMinutes+u.AddMinutes, true
	}
	if len(u.Sent) > 0 {
		if _, err := changeFields(tx, held, u.OrderChange); err != nil {
			return d, err
		}
	}
	for _, p := range []struct {
		name string
		qty  exact.Milli
		act  func(*db.Tx, int64, string, exact.Milli) (Used, error)
	}{{u.Part, u.Qty, usePart}, {u.ReturnPart, u.ReturnQty, returnPart}} {
		if p.name == "" {
			continue
		}
		number, err := partNumber(&tx.Conn, p.name)
		if err != nil {
			return d, err
		}
		if _, err := p.act(tx, u.ID, number, p.qty); err != nil {
			return d, err
		}
	}
	for _, step := range u.Ticks {
		if _, err := tickStep(tx, Tick{ID: u.ID, Step: step, Done: true}); fault.Is(err, fault.Invalid) {
			return d, fault.Fieldf("tick", "tick: %s", strings.TrimPrefix(err.Error(), "step: "))
		} else if err != nil {
			return d, err
		}
	}
	code, err := tx.Setting(db.SettingCurrency)
	if err != nil {
		return d, err
	}
	d.PartsCostIn = exact.CurrencyOf(code).Code + ", not cents"
	d.Detail, err = readDetail(&tx.Conn, u.ID)
	return d, err
}

// partNumber is the number of the part with that number or name.
func partNumber(c *db.Conn, name string) (string, error) {
	id, err := partNamed(c, name)
	if n := numberOf(strings.TrimPrefix(name, "#")); strings.HasPrefix(name, "#") && n > 0 {
		id, err = n, nil
	}
	if err != nil {
		return "", err
	}
	number, found, err := db.One(c, db.Text, "SELECT part_number FROM parts WHERE id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no part %d", id)
	}
	return number, err
}

// bindTicks parses the numbers of steps from a text: "1, 2 4".
func bindTicks(f *schema.Form, p *[]int64) {
	var text string
	if !f.Text(&text, "tick", "numbers of done check list steps, such as 1, 2", schema.Most(400)) {
		return
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r == ',' || r == ';' || r == ' ' ||
			r == '\n'
	}) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 1 || n > maxSteps {
			f.Refuse("tick", "tick: %s is not a step number; give numbers from 1, such as 1, 2", schema.Quote(word))
			return
		}
		*p = append(*p, n)
	}
}

func (s *Service) updateWorkOrder() schema.Op {
	return schema.Op{
		Name: "update_workorder",
		Says: "Change a job",
		About: "Change a job in one call, all or nothing: only the given fields. add_labor_minutes adds minutes. part " +
			"with qty takes from stock, return_part with return_qty gives back. " +
			"Its status, and parts_cost, go with advance_status.",
		Writes: true, Response: JobUpdated{Detail{WorkOrder: sampleOrder, Parts: []PartUse{}, Photos: []Photo{}},
			"USD, not cents"},
		Bind: schema.Writes(s.db, func(f *schema.Form, u *JobUpdate) {
			bindJob(f, &u.ID, schema.Required)
			u.Sent = workOrders.Form(f, &u.WorkOrder, true, nil, "assigned_to", "due_date", "priority", "description",
				"labor_minutes", "downtime_minutes")
			bindNew(f, &u.newPerson)
			adds := f.Int(&u.AddMinutes, "add_labor_minutes", "minutes to add", schema.Range(0, maxMinutes))
			taken := f.Milli(&u.Qty, "qty", "of part", schema.Range(0, maxQuantity))
			back := f.Milli(&u.ReturnQty, "return_qty", "how much of return_part (default: qty)",
				schema.Range(0, maxQuantity))
			f.Ref(&u.Part, "part", "its number or name")
			f.Ref(&u.ReturnPart, "return_part", "its number or name")
			bindTicks(f, &u.Ticks)
			switch {
			case f.Describing():
			case adds && u.Sent["labor_minutes"]:
				f.Refuse("add_labor_minutes", "add_labor_minutes: give labor_minutes to set the minutes or add_labor_minutes to "+
					"add some")
			case u.Part != "" && !taken:
				f.Refuse("qty", "qty is missing: how much of part %s", schema.Quote(u.Part))
			case u.ReturnPart != "" && !back && (u.Part != "" || !taken):
				f.Refuse("return_qty", "return_qty is missing: how much of part %s is given back", schema.Quote(u.ReturnPart))
			case taken && u.Part == "" && u.ReturnPart == "":
				f.Refuse("part", "part is missing: give part or return_part with qty")
			}
			if !back {
				u.ReturnQty = u.Qty
			}
		}, updateJob),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
	}
}
