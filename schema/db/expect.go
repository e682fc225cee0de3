package db

import "context"

type expectKey struct{}

// Expecting returns a context under which the next Update first calls check in its
// transaction, and is refused with its error: for what must still be so when the change
// is made, as the record that a form was filled from.
func Expecting(ctx context.Context, check func(*Conn) error) context.Context {
	return context.WithValue(ctx, expectKey{}, check)
}

func expected(ctx context.Context, c *Conn) error {
	if check, ok := ctx.Value(expectKey{}).(func(*Conn) error); ok {
		return check(c)
	}
	return nil
}
