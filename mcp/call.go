package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
	"quartermaster/schema/wire"
)

// call calls a tool. An unknown name is a protocol error; a tool's own refusal is a result that the agent can read and
// learn from.
func (x *exchange) call(b []byte, params strict.Value) ([]byte, *wrong) {
	name, ok := member(params, "name", strict.String)
	if !ok {
		return nil, &wrong{code: invalidParams, text: "params.name is missing: the name of a tool, one of " +
			x.e.ready().names[x.scope()]}
	}
	t, ok := x.e.ready().tools[name.Text()]
	if !ok {
		return nil, &wrong{code: invalidParams, text: "unknown tool " + schema.Quote(name.Text()) + ". " +
			x.e.elsewhere(name.Text()) + "The tools are " + x.e.ready().names[x.scope()]}
	}
	if t.op.Writes { // before the arguments are judged
		if err := x.who.MayWrite(t.op.Tool); err != nil {
			return x.refused(b, t, err), nil
		}
	}
	args, given := params.Get("arguments")
	if given && args.Kind() != strict.Object && args.Kind() != strict.Null {
		return nil, &wrong{code: invalidParams, text: "params.arguments is " + args.Kind().String() +
			"; it takes an object with the arguments by name"}
	}
	if t.op.Writes {
		return x.do(x.r.Context(), b, t, args, nil), nil
	}
	return x.read(b, t, args), nil
}

// read calls a tool that changes nothing, or returns its cached answer if that is still valid.
func (x *exchange) read(b []byte, t *tool, args strict.Value) []byte {
	cache := x.e.o.Cache
	if cache == nil {
		return x.do(x.r.Context(), b, t, args, nil)
	}
	with := string(args.Raw())
	given, at, found := cache.Get(x.who, t.op.Tool, with)
	if !found && t.large {
		if err := wire.Hold(x.w, wire.LargeAnswer); err != nil {
			return x.refused(b, t, err)
		}
		given, at, found = cache.Get(x.who, t.op.Tool, with) // the previous request may have been the same
	}
	if found {
		b = slices.Grow(b, len(given)+len(x.e.ready().prerendered.callTail)+100)
		return x.endCall(append(b, given...))
	}
	return x.do(x.r.Context(), b, t, args, func(given []byte) { cache.Put(x.who, t.op.Tool, with, at, given) })
}

// do calls a tool and appends the result. keep, unless nil, receives the result of a successful call.
func (x *exchange) do(ctx context.Context, b []byte, t *tool, args strict.Value, keep func(given []byte)) []byte {
	a, err := guarded(func() (answered, error) { return x.ask(ctx, t, args) })
	if err == nil && t.cents {
		err = x.inCurrency(ctx, &a)
	}
	if err != nil {
		return x.refused(b, t, err)
	}
	from := len(b)
	b = x.given(b, a)
	if keep != nil {
		keep(b[from:])
	}
	return x.endCall(b)
}

// answered is a call's answer as JSON, and as the text beside it: of a list with short rows.
type answered struct{ json, text []byte }

// ask binds the arguments and calls the operation.
func (x *exchange) ask(ctx context.Context, t *tool, args strict.Value) (a answered, err error) {
	do, err := t.op.Decode(schema.Input{
		Surface: schema.Tool, Body: args, HasBody: true,
		Header: x.r.Header.Get, Remote: x.r.RemoteAddr,
		View:    func(fn func(*db.Conn) error) error { return x.e.view(ctx, fn) },
		TakenBy: func(argument string) string { return x.e.takenBy(t, argument) },
	})
	if err != nil {
		return a, err
	}
	who := x.who
	if t.op.Writes {
		who = x.asking(t, args)
	}
	answer, err := do(ctx, who)
	var again *db.Replay
	switch {
	case errors.As(err, &again):
		b := slices.Clone(again.Body)
		return answered{b, b}, nil
	case err != nil:
		return a, err
	}
	if a.json, err = strict.Marshal(answer); err != nil {
		return a, err
	}
	a.text = a.json
	if brief, has := schema.InBrief(answer); has {
		a.text, err = strict.Marshal(brief)
	}
	return a, err
}

// inCurrency adds the currency once, at the end of an answer with cents.
func (x *exchange) inCurrency(ctx context.Context, a *answered) error {
	shop, err := x.e.shop(ctx)
	if err != nil || shop.currency == "" {
		return err
	}
	same := &a.json[0] == &a.text[0]
	told := func(object []byte) []byte {
		object = object[:len(object)-1]
		if object[len(object)-1] != '{' {
			object = append(object, ',')
		}
		return append(strict.AppendText(append(object, `"currency":`...), shop.currency), '}')
	}
	a.json = told(a.json)
	if same {
		a.text = a.json
	} else {
		a.text = told(a.text)
	}
	return nil
}

// asking returns the caller with the request, whose answer is stored if the call has a request_key. Calls with the same
// arguments in another order are the same.
func (x *exchange) asking(t *tool, args strict.Value) db.Caller {
	key, given := args.Get(schema.RequestKey)
	text := strings.TrimSpace(key.Text())
	if !given || text == "" {
		return x.who
	}
	var members []string
	for name, v := range args.Fields {
		if string(name) != schema.RequestKey {
			members = append(members, string(name)+"\x00"+string(v.Raw()))
		}
	}
	slices.Sort(members)
	return x.who.Asking(&db.Request{
		Key: text, Route: "mcp " + t.op.Tool, Body: sha256.Sum256([]byte(strings.Join(members, "\x00"))),
		Render: func(answer any) (int, []byte, error) {
			if r, ok := answer.(schema.Redacter); ok {
				answer = r.Redacted()
			}
			b, err := strict.Marshal(answer)
			return http.StatusOK, b, err
		},
	})
}

// given appends the result of a successful call: the answer, and the same as text, of a list with short rows, for
// clients that read only that.
func (x *exchange) given(b []byte, a answered) []byte {
	answer := a.json
	b = slices.Grow(b, len(answer)+2*len(a.text)+len(x.e.ready().prerendered.callTail)+100)
	b = append(b, `{"content":[{"type":"text","text":`...)
	b = strict.AppendText(b, string(a.text))
	b = append(b, `}],"structuredContent":`...)
	b = append(b, answer...)
	return append(b, `,"isError":false`...)
}

// refused appends the result of a refused or failed call. Of a failure the agent learns only its id in the log.
func (x *exchange) refused(b []byte, t *tool, err error) []byte {
	text := hidden(x.id)
	f, ok := fault.As(err)
	if ok && f.Kind != fault.Internal {
		text = f.Detail
	}
	if !ok || f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		x.e.log(t.op.Tool, x.id, err)
	}
	b = append(b, `{"content":[{"type":"text","text":`...)
	b = strict.AppendText(b, text)
	return x.endCall(append(b, `}],"isError":true`...))
}

func (x *exchange) endCall(b []byte) []byte {
	if x.stateless {
		return append(b, x.e.ready().prerendered.callTail...)
	}
	return append(b, '}')
}
