package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// Caller is one kind of caller of a service.
type Caller struct {
	Name   string
	Header string // the Authorization header; "" sends none
	Reads  bool   // may read the service
	Writes bool
	Says   string // what the refusal of a write says
}

// CallersOf makes every kind of caller of the service.
func CallersOf(s *Fixture, service string) []Caller {
	s.T.Helper()
	other := "store"
	if service == other {
		other = "rental"
	}
	bearer := func(user, role, scope string) string { return "Bearer " + s.Key(service, user, role, scope) }
	revoked, disabled := s.Key(service, "rick", "admin", "full"), s.Key(service, "dora-"+service, "admin", "full")
	s.MustCLI("key", "revoke", KeyIDOf(s, "rick", service))
	s.MustCLI("user", "disable", "dora-"+service)
	good := s.Keys[service]
	return []Caller{
		{Name: "none"},
		{Name: "no scheme", Header: good},
		{Name: "another scheme", Header: "Basic " + good},
		{Name: "no key", Header: "Bearer "},
		{Name: "a short key", Header: "Bearer " + good[:len(good)-1]},
		{Name: "a long key", Header: "Bearer " + good + "0"},
		{Name: "a key in capitals", Header: "Bearer " + strings.ToUpper(good)},
		{Name: "two keys", Header: "Bearer " + good + ", Bearer " + good},
		{Name: "unknown", Header: "Bearer apk_" + strings.Repeat("0", 40)},
		{Name: "revoked", Header: "Bearer " + revoked},
		{Name: "another service's key", Header: "Bearer " + s.Keys[other]},
		{Name: "disabled owner", Header: "Bearer " + disabled},
		{Name: "viewer", Header: bearer("vera", "viewer", "full"), Reads: true, Says: "role viewer"},
		{Name: "read-only viewer", Header: bearer("vera", "viewer", "read"), Reads: true, Says: "read-only"},
		{Name: "read-only member", Header: bearer("mia", "member", "read"), Reads: true, Says: "read-only"},
		{Name: "read-only admin", Header: bearer("anna", "admin", "read"), Reads: true, Says: "read-only"},
		{Name: "member", Header: bearer("mia", "member", "full"), Reads: true, Writes: true},
		{Name: "admin", Header: bearer("anna", "admin", "full"), Reads: true, Writes: true},
		{Name: "admin, scheme in capitals", Header: "BEARER  " + good, Reads: true, Writes: true},
	}
}

// KeyIDOf is the id of the user's only key of the service.
func KeyIDOf(s *Fixture, user, service string) string {
	s.T.Helper()
	var list struct {
		Keys []struct {
			ID            int64
			User, Service string
		}
	}
	Answer{Body: s.MustCLI("key", "list", "--json")}.JSON(s.T, &list)
	for _, k := range list.Keys {
		if k.User == user && k.Service == service {
			return fmt.Sprint(k.ID)
		}
	}
	s.T.Fatalf("no key of %s for %s", user, service)
	return ""
}

// StartFilled starts an appliance with every service's demo data. It trusts this machine as its proxy, so that a test
// may use many client addresses.
func StartFilled(t testing.TB, args ...string) *Fixture {
	t.Helper()
	s := Start(t, append([]string{"--trusted-proxy", "127.0.0.0/8"}, args...)...)
	today := exact.DayOf(s.Clock.Now())
	for _, service := range s.Server.Declared() {
		if service.Demo == nil {
			continue
		}
		assert.OK(t, service.Demo(context.Background(), today), "%s", service.Name)
	}
	return s
}

// From returns a new client address, so that rate limits by address do not interfere.
type From struct{ n int }

// Next returns the next address.
func (f *From) Next() string {
	f.n++
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", f.n>>16&255, f.n>>8&255, f.n&255)
}

// SampleArguments are made from the tool's description.
func SampleArguments(op schema.Op) string {
	args := map[string]any{}
	for _, a := range op.Args(schema.Tool) {
		if a.Header == "" && (a.Required || a.Example != nil) {
			args[a.Name] = a.Sample()
		}
	}
	return JSONText(args)
}

// JSONText is a value as JSON.
func JSONText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
