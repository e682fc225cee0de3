package agents

import (
	"context"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// fuzzRequests and fuzzLong are the numbers of requests per run; QUARTERMASTER_LONG selects the long form.
const (
	fuzzRequests = 1_500
	fuzzLong     = 20_000
)

// TestFuzzedRequestsMatchTheirDescription sends requests made from the four OpenAPI documents and the lists of
// tools, valid and spoiled ones, to a filled appliance. No answer may be a 5xx or undocumented, a surely invalid
// request must be refused, every operation must succeed at least once, and at the end every invariant must hold.
//
// QUARTERMASTER_SEED sets the seed. A seed gives the same sequence of requests, except for the random keys and codes
// that the appliance makes.
func TestFuzzedRequestsMatchTheirDescription(t *testing.T) {
	seed, n := uint64(1), fuzzRequests
	if os.Getenv("QUARTERMASTER_LONG") != "" {
		n = fuzzLong
	}
	if text := os.Getenv("QUARTERMASTER_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		assert.OK(t, err)
	}
	t.Logf("%d requests of the seed %d; QUARTERMASTER_SEED sets another", n, seed)
	s := apptest.StartFilled(t)
	for _, till := range []string{"stripe", "lemonsqueezy", "polar"} {
		s.MustCLI("store", "provider", "set", till, "--secret", tillSecret)
	}
	s.MustCLI("store", "signing-key", "make")
	f := newFuzzer(t, s, seed)
	for _, row := range found {
		f.send(row)
	}
	for range n {
		f.next()
		assert.Must(t, f.failures <= 20, "that is enough")
	}
	for _, target := range f.targets {
		assert.That(t, target.good != 0, "%s never succeeded in %d requests", target, target.asked)
	}
	f.checkLog()
	checkInvariants(t, s)
}

// found are requests that once had a wrong answer.
var found = []request{}

// checkInvariants checks every service's invariants and the file.
func checkInvariants(t testing.TB, s *apptest.Fixture) {
	t.Helper()
	err := s.Server.DB().View(context.Background(), func(c *db.Conn) error {
		for _, service := range s.Server.Declared() {
			if service.Check == nil {
				continue
			}
			breaches, err := service.Check(c)
			if err != nil {
				return err
			}
			for _, b := range breaches {
				if strings.Contains(b, "could not be booked") {
					continue // a payment without a known payer needs a person's decision and breaks no rule
				}
				t.Errorf("%s: %s", service.Name, b)
			}
		}
		for _, pragma := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
			said, err := db.All(c, db.Text, pragma)
			if err != nil {
				return err
			}
			text := strings.Join(said, "; ")
			assert.That(t, text == "" || text == "ok", "%s: %s", pragma, text)
		}
		return nil
	})
	assert.OK(t, err)
}

// fuzzer sends requests and checks the answers.
type fuzzer struct {
	t        *testing.T
	s        *apptest.Fixture
	g        *gen
	targets  []*target
	address  apptest.From
	keys     map[string][3]string           // by service: of a viewer, a read-only one, of a member
	seen     map[string]map[string][]string // by service: values of its answers
	seat     []member                       // the newest seat: license_key and fingerprint
	failures int
}

// request is one request as it is sent.
type request struct {
	service, method, path, body string
	target                      *target // describes the answer; nil: only its form is checked
	heads                       []string
	key                         string // "" none, "owner", "viewer", "read-only", "member"
	plain                       bool   // unspoiled, so that it is refused only for a record or a state
	want                        []int  // the statuses that are right for the spoiled part
	spoiled                     string // how
}

func newFuzzer(t *testing.T, s *apptest.Fixture, seed uint64) *fuzzer {
	t.Helper()
	f := &fuzzer{
		t: t, s: s, keys: map[string][3]string{}, seen: map[string]map[string][]string{},
		g: &gen{Rand: rand.New(rand.NewPCG(seed, 0))},
	}
	for _, service := range s.Server.Declared() {
		f.keys[service.Name] = [3]string{
			s.Key(service.Name, "vera", "viewer", "full"), s.Key(service.Name, "anna", "admin", "read"), s.Key(service.Name, "mia", "member", "full"),
		}
		f.seen[service.Name] = map[string][]string{}
		f.targets = append(f.targets, restTargets(s, service.Name)...)
		if len(service.Tools()) > 0 {
			f.targets = append(f.targets, toolTargets(s, service.Name)...)
		}
	}
	for _, target := range f.targets { // list what exists before requests use its names
		if target.method == "GET" && !strings.Contains(target.path, "{") {
			f.send(request{target: target, service: target.service, method: "GET", path: target.path, key: "owner", plain: true})
		}
	}
	return f
}

// next sends the next request.
func (f *fuzzer) next() {
	g := f.g
	if g.one(300) {
		f.s.Clock.Set(f.s.Clock.Now().Add(time.Duration(g.IntN(30)) * time.Hour))
	}
	target := f.target()
	g.seen = f.seen[target.service]
	g.odd, g.strange = pick(g, []int{0, 0, 0, 0, 12, 4, 2}), 0
	if target.tool != "" {
		if g.one(12) {
			f.send(f.envelope(target))
			return
		}
		f.send(f.call(target))
		return
	}
	f.send(f.rest(target))
}

// target is the next one, now and then one that never succeeded.
func (f *fuzzer) target() *target {
	if f.g.one(4) {
		if hungry := slices.DeleteFunc(slices.Clone(f.targets), (*target).fed); len(hungry) > 0 {
			return pick(f.g, hungry)
		}
	}
	return pick(f.g, f.targets)
}

// rest makes a request for an operation.
func (f *fuzzer) rest(target *target) request {
	g := f.g
	r := request{target: target, service: target.service, method: target.method, path: f.path(target), key: "owner"}
	query := url.Values{}
	var members []member
	for _, p := range target.parameters {
		switch {
		case p.in == "header" && p.name == "Idempotency-Key":
			if g.one(6) {
				r.heads = append(r.heads, p.name+": "+pick(g, []string{"k1", "k2", "k3", "a key", strings.Repeat("k", 200)}))
			}
		case p.in == "header":
			r.heads = append(r.heads, p.name+": "+f.header(p.name))
		case p.in == "query" && (p.required || g.one(2)):
			query.Set(p.name, unquoted(g.value(p.name, p.schema)))
		}
	}
	if target.body != nil {
		members = g.members(target.body)
		members = f.hint(target, &r, members)
		r.body = objectText(members)
	}
	if target.signed {
		f.sign(&r)
	}
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	r.plain = g.strange == 0
	if g.odd > 0 && g.one(3) {
		f.spoil(&r, members)
		r.plain = false
		if g.strange > 0 && r.want != nil { // another check may come first
			r.want = append(slices.Clone(r.want), 400, 404)
		}
	}
	f.as(&r)
	return r
}

// unquoted is a JSON value for a query or a path: text without quotes, short enough that net/http does not refuse it.
func unquoted(value string) string {
	const most = 500
	text, err := strconv.Unquote(value)
	if err != nil {
		text = strings.Trim(value, `"`)
	}
	return text[:min(len(text), most)]
}

// path fills the target's path.
func (f *fuzzer) path(target *target) string {
	parts := strings.Split(target.path, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		name := strings.Trim(part, "{}")
		value := ""
		for _, p := range target.parameters {
			if p.in == "path" && p.name == name {
				value = unquoted(f.g.value(name, p.schema))
			}
		}
		if f.g.odd > 0 && f.g.one(6) {
			f.g.strange++
			value = pick(f.g, []string{"0", "-1", "1.0", "1e1", "+1", " 1", "9223372036854775807", "9223372036854775808", "x", "..", ".", "", "a/b", "%", "ü", "\x00", "1;x", strings.Repeat("9", 400)})
		}
		parts[i] = url.PathEscape(value)
	}
	return strings.Join(parts, "/")
}

// as sends some of the requests with other keys.
func (f *fuzzer) as(r *request) {
	if !f.g.one(10) || r.target.open {
		return
	}
	r.plain, r.want = false, nil
	switch r.key = pick(f.g, []string{"", "viewer", "read-only", "member"}); {
	case r.key == "":
		r.want = []int{401}
	case r.key == "member":
	case r.target.writes:
		r.want = []int{403, 404} // the changed path is checked first
	}
}

// credential is the key for the request's kind of key.
func (f *fuzzer) credential(r request) string {
	switch r.key {
	case "owner":
		return f.s.Keys[r.service]
	case "viewer":
		return f.keys[r.service][0]
	case "read-only":
		return f.keys[r.service][1]
	case "member":
		return f.keys[r.service][2]
	}
	return ""
}
