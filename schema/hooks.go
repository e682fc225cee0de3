package schema

import (
	"context"
	"io"

	"quartermaster/schema/db"
)

// Said makes an operation's Did or Will of a sentence about its answer.
func Said[T any](say func(T) string) func(any, Money) string {
	return func(answer any, _ Money) string { return Of(say)(answer) }
}

// SaidIn is Said for a sentence with amounts of money.
func SaidIn[T any](say func(T, Money) string) func(any, Money) string {
	return func(answer any, m Money) string {
		t, _ := answer.(T)
		return say(t, m)
	}
}

// Of makes an operation's Leads or Thing of a text that follows from its answer.
func Of[T any](text func(T) string) func(any) string {
	return func(answer any) string {
		t, _ := answer.(T)
		return text(t)
	}
}

// Printed makes an operation's Print of a function that prints its answer.
func Printed[T any](print func(io.Writer, T)) func(io.Writer, any) {
	return func(w io.Writer, answer any) {
		t, _ := answer.(T)
		print(w, t)
	}
}

// Asks makes the Bind of an operation without arguments.
func Asks[T any](ask func(context.Context) (T, error)) func(*Form) Handler {
	return func(*Form) Handler {
		return func(ctx context.Context, _ db.Caller) (any, error) { return ask(ctx) }
	}
}

// Acts makes the Bind of an operation without arguments that depends on its caller.
func Acts[T any](do func(context.Context, db.Caller) (T, error)) func(*Form) Handler {
	return func(*Form) Handler {
		return func(ctx context.Context, who db.Caller) (any, error) { return do(ctx, who) }
	}
}

// Reads makes the Bind of an operation that reads by one argument.
func Reads[A, T any](bind func(*Form, *A), read func(context.Context, A) (T, error)) func(*Form) Handler {
	return Does(bind, func(ctx context.Context, _ db.Caller, a A) (T, error) { return read(ctx, a) })
}

// Does makes the Bind of an operation of one argument.
func Does[A, T any](bind func(*Form, *A), do func(context.Context, db.Caller, A) (T, error)) func(*Form) Handler {
	return func(f *Form) Handler {
		var a A
		bind(f, &a)
		return func(ctx context.Context, who db.Caller) (any, error) { return do(ctx, who, a) }
	}
}

// Does2 is Does for an operation of two arguments.
func Does2[A, B, T any](bind func(*Form, *A, *B), do func(context.Context, db.Caller, A, B) (T, error)) func(
	*Form) Handler {
	return func(f *Form) Handler {
		var a A
		var b B
		bind(f, &a, &b)
		return func(ctx context.Context, who db.Caller) (any, error) { return do(ctx, who, a, b) }
	}
}

// Writes makes the Bind of an operation that is one transaction: do is all that it does. So the operation needs no
// method that opens the transaction, and other operations call do in theirs.
func Writes[A, T any](d *db.DB, bind func(*Form, *A), do func(*db.Tx, A) (T, error)) func(*Form) Handler {
	return Does(bind, func(ctx context.Context, who db.Caller, a A) (T, error) {
		return db.Update(ctx, d, who, func(tx *db.Tx) (T, error) { return do(tx, a) })
	})
}

// Writes0 is Writes for an operation without arguments.
func Writes0[T any](d *db.DB, do func(*db.Tx) (T, error)) func(*Form) Handler {
	return Writes(d, func(*Form, *struct{}) {}, func(tx *db.Tx, _ struct{}) (T, error) { return do(tx) })
}

// Writes2 is Writes for an operation of two arguments.
func Writes2[A, B, T any](d *db.DB, bind func(*Form, *A, *B), do func(*db.Tx, A, B) (T, error)) func(*Form) Handler {
	return Does2(bind, func(ctx context.Context, who db.Caller, a A, b B) (T, error) {
		return db.Update(ctx, d, who, func(tx *db.Tx) (T, error) { return do(tx, a, b) })
	})
}

// Writes3 is Writes for an operation of three arguments.
func Writes3[A, B, C, T any](d *db.DB, bind func(*Form, *A, *B, *C), do func(*db.Tx, A, B, C) (T, error)) func(
	*Form) Handler {
	return Does3(bind, func(ctx context.Context, who db.Caller, a A, b B, c C) (T, error) {
		return db.Update(ctx, d, who, func(tx *db.Tx) (T, error) { return do(tx, a, b, c) })
	})
}

// Agents makes a Bind of two: that of agents, who have arguments and an answer of their own, and that of all others.
func Agents(agents, others func(*Form) Handler) func(*Form) Handler {
	return func(f *Form) Handler {
		if f.surface == Tool {
			return agents(f)
		}
		return others(f)
	}
}

// Reads2 is Reads for two arguments.
func Reads2[A, B, T any](bind func(*Form, *A, *B), read func(context.Context, A, B) (T, error)) func(*Form) Handler {
	return Does2(bind, func(ctx context.Context, _ db.Caller, a A, b B) (T, error) { return read(ctx, a, b) })
}

// Does3 is Does for three arguments.
func Does3[A, B, C, T any](bind func(*Form, *A, *B, *C), do func(context.Context, db.Caller, A, B, C) (T, error)) func(
	*Form) Handler {
	return func(f *Form) Handler {
		var a A
		var b B
		var c C
		bind(f, &a, &b, &c)
		return func(ctx context.Context, who db.Caller) (any, error) { return do(ctx, who, a, b, c) }
	}
}

// Reads3 is Reads for three arguments.
func Reads3[A, B, C, T any](bind func(*Form, *A, *B, *C), read func(context.Context, A, B, C) (T, error)) func(
	*Form) Handler {
	return Does3(bind, func(ctx context.Context, _ db.Caller, a A, b B, c C) (T, error) { return read(ctx, a, b, c) })
}
