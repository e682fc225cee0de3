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

// call calls a tool. A name that no tool has is a protocol error; whatever the tool
// itself refuses is a result that the agent can read and learn from.
func (x *exchange) call(b []byte, params strict.Value) ([]byte, *wrong) {
	name, ok := member(params, "name", strict.String)
	if !ok {
		return nil, &wrong{code: invalidParams, text: "params.name is missing: the name of a tool, one of " + x.e.ready().names[scopeOf(x.who)]}
	}
	t, ok := x.e.ready().tools[name.Text()]
	if !ok {
		return nil, &wrong{code: invalidParams, text: "unknown tool " + schema.Quote(name.Text()) + "; " + x.e.elsewhere(name.Text()) + "the tools are " + x.e.ready().names[scopeOf(x.who)]}
	}
	if t.op.Writes { // before anything is said about the arguments
		if err := x.who.MayWrite(t.op.Tool); err != nil {
			return x.refused(b, t, err), nil
		}
	}
	args, given := params.Get("arguments")
	if given && args.Kind() != strict.Object && args.Kind() != strict.Null {
		return nil, &wrong{code: invalidParams, text: "params.arguments is " + args.Kind().String() + "; it takes an object with the arguments by name"}
	}
	if t.op.Writes {
		return x.do(x.r.Context(), b, t, args, nil), nil
	}
	return x.read(b, t, args), nil
}

// read calls a tool that changes nothing, or gives what it answered lately where that
// is still right.
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
		given, at, found = cache.Get(x.who, t.op.Tool, with) // who had the turn before may have asked the same
	}
	if found {
		b = slices.Grow(b, len(given)+len(x.e.ready().prerendered.callTail)+100)
		return x.endCall(append(b, given...))
	}
	ctx, on := db.Track(x.r.Context())
	return x.do(ctx, b, t, args, func(given []byte) { cache.Put(x.who, t.op.Tool, with, at, on, given) })
}

// do calls a tool and appends the result. keep, unless it is nil, is shown the one of a
// call that was carried out.
func (x *exchange) do(ctx context.Context, b []byte, t *tool, args strict.Value, keep func(given []byte)) []byte {
	held := strict.GetBuffer()
	answer, err := guarded(func() ([]byte, error) { return x.ask(ctx, (*held)[:0], t, args) })
	defer strict.PutBuffer(held, answer)
	var again *db.Replay
	switch {
	case errors.As(err, &again):
		answer = append(answer[:0], again.Body...)
	case err != nil:
		return x.refused(b, t, err)
	}
	from := len(b)
	b = x.given(b, answer)
	if keep != nil {
		keep(b[from:])
	}
	return x.endCall(b)
}

// ask binds the arguments, calls the operation and appends its answer as JSON.
func (x *exchange) ask(ctx context.Context, b []byte, t *tool, args strict.Value) ([]byte, error) {
	do, err := t.op.Decode(schema.Input{
		Surface: schema.Tool, Body: args, HasBody: true,
		Header: x.r.Header.Get, Remote: x.r.RemoteAddr,
	})
	if err != nil {
		return nil, err
	}
	who := x.who
	if t.op.Writes {
		who = x.asking(t, args)
	}
	answer, err := do(ctx, who)
	if err != nil {
		return b, err
	}
	return strict.Append(b, answer)
}

// asking returns the caller with the request, whose answer is kept when the call has a
// request_key. Two calls are the same whatever the order of their arguments.
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

// given appends the result of a call that was carried out: the answer, and the same
// JSON again as text for clients that know nothing else.
func (x *exchange) given(b, answer []byte) []byte {
	b = slices.Grow(b, 3*len(answer)+len(x.e.ready().prerendered.callTail)+100)
	b = append(b, `{"content":[{"type":"text","text":"`...)
	b = appendText(b, answer)
	b = append(b, `"}],"structuredContent":`...)
	b = append(b, answer...)
	return append(b, `,"isError":false`...)
}

// refused appends the result of a call that was refused, or that failed. Of a failure
// the agent learns no more than under which id the log has it.
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
	b = append(b, quoted(text)...)
	return x.endCall(append(b, `}],"isError":true`...))
}

func (x *exchange) endCall(b []byte) []byte {
	if x.stateless {
		return append(b, x.e.ready().prerendered.callTail...)
	}
	return append(b, '}')
}
