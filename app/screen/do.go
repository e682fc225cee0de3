package screen

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// op is the operation in the address.
func (x *exchange) op() (schema.Op, error) {
	op, ok := x.s.ops[x.route.area][x.path["name"]]
	if !ok {
		return op, fault.NotFoundf("there is no operation %s here", schema.Quote(x.path["name"]))
	}
	return op, nil
}

// mayDo refuses visitors whose role does not suffice.
func (x *exchange) mayDo(op schema.Op) error {
	role := page.Viewer
	switch {
	case op.Personal:
	case op.Whole:
		role = page.Owner
	case op.Admin:
		role = page.Admin
	case op.Writes:
		role = page.Member
	}
	return x.needs(role, op.PageTitle())
}

// doPage answers GET /do/:name: the form of an operation that writes, the answer of one
// that reads.
func doPage(x *exchange) error {
	op, err := x.op()
	if err != nil {
		return err
	}
	if done, err := x.admit(); done || err != nil {
		return err
	}
	if err := x.mayDo(op); err != nil {
		return err
	}
	in := &sent{fields: x.r.URL.Query()}
	if name := in.fields.Get("draft"); name != "" {
		over := in.fields
		in.fields = url.Values{}
		maps.Copy(in.fields, x.s.drafts.find(x.owner(), name, x.s.DB.Now()))
		for field, values := range over { // the record that was made meanwhile
			switch a, _ := fieldNamed(op.Args(schema.Page), field); {
			case a.Apart != "":
				in.fields[field] = append(without(in.fields[field], a.Apart, over.Get("typed")), values...)
			case field != "draft" && field != "into" && field != "typed":
				in.fields[field] = values
			}
		}
	}
	delete(in.fields, "into")
	delete(in.fields, "typed")
	in.part()
	in.join(op)
	if !op.Writes && !op.Personal {
		return x.answerOf(op, in)
	}
	in.files = map[string]schema.File{}
	if err := x.fetchFiles(op, in); err != nil {
		return err
	}
	v := doView{op: op, given: in.fields, then: in.then, key: in.key, waits: in.waits, files: in.files}
	if err := x.fill(&v); err != nil {
		return err
	}
	if in.seen != "" {
		v.now = in.seen // the form is older, and its session ended meanwhile
	}
	if op.Confirmed() && len(in.fields) > 0 {
		v.will, v.asked = x.try(op, in)
	}
	return x.showForm(http.StatusOK, v)
}

// onlyReads refuses a POST of an operation that only reads, for everybody.
func (x *exchange) onlyReads() error {
	op, ok := x.s.ops[x.route.area][x.path["name"]]
	if !ok || !strings.HasSuffix(x.route.pattern, "/do/:name") || op.Writes || op.Personal {
		return nil
	}
	x.w.Header().Set("Allow", "GET, HEAD")
	return fault.New(fault.Method, "%s only reads: request it with GET", op.Name)
}

// doPost answers POST /do/:name: it runs the operation.
func doPost(x *exchange) error {
	op, err := x.op()
	if err != nil {
		return err
	}
	if x.visitor != nil {
		if err := x.mayDo(op); err != nil {
			return err
		}
	}
	most := mostOf(op)
	if x.visitor == nil { // typed values survive signing in, files do not
		most = mostForm
	}
	in, err := x.receive(most)
	if x.visitor == nil && fault.Is(err, fault.TooLarge) {
		in, err = &sent{fields: url.Values{}}, nil
	}
	if err != nil {
		return err
	}
	x.fields = in.all()
	if done, err := x.admit(); done || err != nil {
		return err
	}
	if err := x.mayDo(op); err != nil {
		return err
	}
	return x.take(op, in)
}

// take does what a received form requests: usually its operation.
func (x *exchange) take(op schema.Op, in *sent) error {
	in.join(op)
	v := doView{
		op: op, given: in.fields, then: in.then, from: in.from, key: in.key, seen: in.seen, alone: in.alone,
		marks: [2]string{in.marks.Op, in.marked},
	}
	if err := in.fileTooLarge(); err != nil {
		return x.refuseForm(err, v)
	}
	if err := x.fetchFiles(op, in); err != nil {
		return x.refuseForm(err, v)
	}
	if in.fresh != "" {
		return x.leave(op, in)
	}
	if in.turns && in.blank(op) {
		return x.lead(x.ours(in.then))
	}
	if in.marked != "" && in.fields.Get("match") != "" {
		delete(in.fields, in.marked) // all matches are meant, whatever is marked
	}
	if in.open {
		for name := range in.fields {
			if name != in.marked && name != "match" {
				delete(in.fields, name)
			}
		}
		return x.showForm(http.StatusOK, v)
	}
	answer, err := x.do(op, in, &v)
	switch {
	case v.ask || err != nil:
		if v.waits, v.files = in.waits, in.files; err == nil || !errors.As(err, new(*db.Replay)) {
			if err := x.keepFiles(op, in); err != nil {
				return x.refuseForm(err, v)
			}
		}
		if v.ask {
			return x.showForm(v.status(), v)
		}
		return x.refuseForm(err, v)
	}
	return x.done(op, in, answer)
}

// do runs the operation, unless it must ask first.
func (x *exchange) do(op schema.Op, in *sent, v *doView) (any, error) {
	if op.Credential && x.route.area == page.Staff && !x.visitor.session.Fresh(x.now()) {
		if in.password == "" {
			v.ask, v.password = true, true
			return nil, nil
		}
		if err := x.s.Sessions.Confirm(x.r.Context(), x.visitor.session, in.password, x.from()); err != nil {
			v.ask, v.password, v.refusal = true, true, x.faultOf(err)
			return nil, nil
		}
	}
	who := x.asking(op, in)
	if err := who.Request.Answered(x.r.Context(), x.s.DB); err != nil {
		return nil, err
	}
	if err := x.choose(op, in, v); err != nil {
		return nil, err
	}
	if op.Makes() {
		v.given = in.fields
	}
	if err := x.newOrEdit(op, in, who.Request); err != nil {
		return nil, err
	}
	handle, err := op.Decode(x.forOp(in))
	if err != nil {
		return nil, err
	}
	if (op.Confirmed() || op.Doubt != nil || op.Preview != nil && in.preview) &&
		(!in.confirm || in.asked != "" && in.asked != x.askedOf(op, in)) {
		will, asked := x.try(op, in)
		switch {
		case will.err != nil:
			return nil, will.err
		case will.ask.Title != "":
			v.ask, v.will, v.asked, v.confirm = true, will, asked, true
			return nil, nil
		}
	}
	answer, err := handle(x.r.Context(), who)
	if err != nil {
		return nil, err
	}
	return answer, who.Request.Settle(x.r.Context(), x.s.DB, answer)
}

// forOp are the form's values for the operation's arguments.
func (x *exchange) forOp(in *sent) schema.Input {
	fields := in.fields
	if in.written != nil {
		fields = in.written
	}
	i := x.inputOf(fields, false)
	i.Files = in.files
	return i
}

// kept is the stored result of an idempotency key: where the first answer redirected.
type kept struct {
	To    string `json:"to"`
	Shown int64  `json:"shown,omitempty"` // when a one-time secret was shown
}

// asking is the caller with their form: it is done once, its redirect is stored, and its own transaction refuses it if
// another user changed the record since the form was made.
func (x *exchange) asking(op schema.Op, in *sent) db.Caller {
	r := &db.Request{
		Route: "do/" + op.Name + x.visitor.suffix(), Body: in.print(),
		Render: func(answer any) (int, []byte, error) {
			k := kept{To: x.leads(op, in, answer)}
			if op.Credential {
				k.Shown = int64(x.now())
			}
			b, err := json.Marshal(k)
			return http.StatusSeeOther, b, err
		},
	}
	if len(in.key) <= 200 {
		r.Key = in.key
	}
	return x.who().Asking(r)
}

// suffix distinguishes tenants and buyers, who have no names here.
func (v *visitor) suffix() string {
	if v.area == page.Staff {
		return ""
	}
	return " " + page.Num(v.caller.Subject)
}

// askedOf names the fields that a question covered. A field that was left empty, or as the form begins it, counts as
// missing: the form of GET has all fields, its address only those that it names.
func (x *exchange) askedOf(op schema.Op, in *sent) string {
	filled := sent{fields: url.Values{}, files: in.files}
	args, today := op.Args(schema.Page), x.s.DB.Today().String()
	for name, values := range in.fields {
		a, _ := fieldNamed(args, name)
		value := strings.Join(values, "")
		if value == "" || a.Today && value == today || a.Default != nil && value == fmt.Sprint(a.Default) {
			continue
		}
		filled.fields[name] = values
	}
	sum := filled.print()
	return hex.EncodeToString(sum[:8])
}

// refuseForm answers a refused form: a replayed one redirects like the first; any other is shown again with all that
// was typed.
func (x *exchange) refuseForm(err error, v doView) error {
	var again *db.Replay
	if errors.As(err, &again) {
		var k kept
		if json.Unmarshal(again.Body, &k) != nil {
			return x.lead("/")
		}
		if k.Shown != 0 {
			v.refusal = fault.Conflictf("%s", schema.MomentsInWords(fmt.Sprintf("this was shown once, on %s, and is not "+
				"shown again. If it is lost, create a new one", exact.Instant(k.Shown)), x.shop.zone))
			return x.showForm(http.StatusConflict, v)
		}
		return x.lead(k.To)
	}
	v.refusal = v.op.Plain(aboutField(v.op, x.faultOf(err).Amounts(x.shop.written)))
	for _, f := range v.refusal.Fields {
		for _, c := range f.Columns {
			v.offer(f.Field, schema.Choice{Value: c.Means, Text: c.Name})
		}
	}
	x.chooseOnly(&v)
	if back, err := x.comeBack(&v); back || err != nil {
		return err
	}
	switch v.refusal.Kind {
	case fault.Internal:
		x.refuse(v.refusal)
		return nil
	case fault.Conflict:
		if err := x.compare(&v); err != nil {
			return err
		}
	}
	x.retry(v.refusal)
	if v.seen == "" && !v.op.Makes() { // its form has some of the fields: the others stay unchanged
		if err := x.fill(&v); err != nil {
			return err
		}
	}
	return x.showForm(wire.Status(v.refusal.Kind), v)
}
