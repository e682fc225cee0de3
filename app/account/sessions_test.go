package account

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	"quartermaster/schema/session"
)

const passphrase = "correct horse battery"

var home = session.From{Address: "192.0.2.1", Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}

// accept makes a session for the user through an invitation and returns the cookie's token.
func (h fixture) accept(s *Sessions, name string) string {
	h.t.Helper()
	token, _, err := Invite(context.Background(), h.d, db.CLI(""), name)
	assert.OK(h.t, err)
	cookie, _, err := s.Accept(context.Background(), token, passphrase, home)
	assert.OK(h.t, err)
	return cookie
}

func TestAnInvitationSetsThePasswordOnce(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	first, _, err := Invite(ctx, h.d, db.CLI(""), "ann")
	assert.OK(t, err)
	token, v, err := Invite(ctx, h.d, db.CLI(""), "ann")
	assert.Must(t, err == nil && v.User == "ann" && v.By == "cli" && v.ExpiresAt == exact.InstantOf(noon)+24*60*60,
		"the invitation is %+v, %v", v, err)
	_, err = s.Invited(ctx, first)
	assert.That(t, fault.Is(err, fault.Gone), "an earlier invitation: %v, want 410", err)
	for range 3 { // reading consumes nothing
		v, err := s.Invited(ctx, token)
		assert.Must(t, err == nil && v.User == "ann", "the invitation tells %+v, %v", v, err)
	}
	for _, bad := range []string{"123456789", strings.Repeat("ü", 201), "Password123", "qwertyuiop", "\xff2345678901"} {
		_, _, err := s.Accept(ctx, token, bad, home)
		assert.That(t, fault.Is(err, fault.Invalid), "the password %q: %v, want a refusal", bad, err)
	}
	cookie, in, err := s.Accept(ctx, token, passphrase, home)
	assert.Must(t, err == nil && in.User == "ann" && in.Device == "Firefox on Linux" && in.Address == "192.0.2.1" &&
		in.Fresh(exact.InstantOf(noon)), "accepted: %+v, %v", in, err)
	who, _, err := s.Authenticate(ctx, cookie, "store")
	assert.That(t, err == nil && who.User == "ann" && who.Role == "member" && who.Via == "web" && who.Scope == "full" &&
		who.Session == in.ID, "the caller is %+v, %v", who, err)
	if _, v, err := s.Authenticate(ctx, cookie, "reorder"); !fault.Is(err, fault.Forbidden) || v.User != "ann" || !strings.Contains(err.Error(), "reorder") {
		t.Errorf("a service without a role: %v, %+v", err, v)
	}
	_, _, err = s.Accept(ctx, token, passphrase, home)
	assert.That(t, fault.Is(err, fault.Gone), "a used invitation: %v, want 410", err)
	unknown, _ := s.Demo("ann"), 0
	other := NewSessions(h.d)
	_, err = other.Invited(ctx, unknown)
	assert.That(t, fault.Is(err, fault.NotFound), "an unknown invitation: %v, want 404", err)
	late, _, _ := Invite(ctx, h.d, db.CLI(""), "ann")
	h.pass(24 * time.Hour)
	_, err = s.Invited(ctx, late)
	assert.That(t, fault.Is(err, fault.Gone), "an invitation after its day: %v, want 410", err)
}

func TestSignInRevealsNothing(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	h.user("ben")
	h.user("new")
	s := NewSessions(h.d)
	h.accept(s, "ann")
	h.accept(s, "ben")
	assert.Value(disable(ctx, h.d, db.CLI(""), "ben"))(t)
	from := session.From{Address: "198.51.100.7"}
	var said []string
	for _, c := range [][2]string{{"nobody", passphrase}, {"ann", "wrong password"}, {"ben", passphrase}, {"new", passphrase}, {"", ""}} {
		_, _, err := s.SignIn(ctx, c[0], c[1], from)
		refused(t, err, fault.Unauthorized)
		said = append(said, err.Error())
	}
	for _, w := range said {
		assert.That(t, w == said[0], "a refusal says %q, another %q", w, said[0])
	}
	one, _, err := s.SignIn(ctx, " ann ", passphrase, from)
	assert.OK(t, err)
	two, _, err := s.SignIn(ctx, "ann", passphrase, from)
	assert.Must(t, err == nil && one != two, "a second sign-in gives the same token, or %v", err)
	assert.Equal(t, h.number("SELECT COUNT(*) FROM sessions WHERE length(hash) = 32"), 3, "sessions are kept")
}

// number reads a single number.
func (h fixture) number(query string, args ...any) (n int64) {
	h.t.Helper()
	err := h.d.View(context.Background(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, query, args...)
		return err
	})
	assert.OK(h.t, err)
	return n
}

func TestGuessersAreSlowedAndColleaguesAreNot(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	h.accept(s, "ann") // so her address is known
	try := func(name, password, address string) error {
		_, _, err := s.SignIn(ctx, name, password, session.From{Address: address})
		return err
	}
	for _, name := range []string{"ann", "nobody"} { // existing or not
		for i := range 5 {
			refused(t, try(name, "wrong password", "198.51.100."+string(rune('1'+i))), fault.Unauthorized)
		}
		for _, wait := range []time.Duration{1, 2, 4} {
			err := try(name, passphrase, "203.0.113.77") // also the right one, before anything is hashed
			refused(t, err, fault.Limited)
			e, _ := fault.As(err)
			assert.Must(t, e.Retry == wait*time.Second, "%s is told to wait %s, want %ds", name, e.Retry, wait)
			h.pass(wait * time.Second)
			refused(t, try(name, "wrong password", "203.0.113.77"), fault.Unauthorized)
		}
	}
	assert.OK(t, try("ann", passphrase, home.Address), "from where she signs in")
	h.pass(31 * 24 * time.Hour)
	for range 5 {
		refused(t, try("ann", "wrong password", "198.51.100.9"), fault.Unauthorized)
	}
	refused(t, try("ann", passphrase, home.Address), fault.Limited) // after a month the address is unknown again
	h.pass(time.Second)
	assert.OK(t, try("ann", passphrase, home.Address))
	h.pass(time.Hour)
	for i := range 20 { // one subscriber, many names
		refused(t, try("name"+string(rune('a'+i)), "wrong password", "2001:db8::"+string(rune('a'+i%6))), fault.Unauthorized)
	}
	err := try("ann", passphrase, "2001:db8::77")
	refused(t, err, fault.Limited)
	e, _ := fault.As(err)
	assert.That(t, e.Retry == time.Minute, "told to wait %s, want a minute", e.Retry)
}

// TestHashingSlots fills the hashing slots: an address has one, strangers leave two to known addresses, and a refusal
// calls nothing.
func TestHashingSlots(t *testing.T) {
	h := newHasher()
	hold, begun := make(chan struct{}), make(chan struct{}, maxPlaces)
	var group sync.WaitGroup
	stranger := func(i int) asker { return asker{network: limit.AddressOf(fmt.Sprintf("192.0.2.%d", i))} }
	known := func(i int) asker { return asker{stranger(1).network, fmt.Sprintf("user %d", i)} }
	place := func(who asker) {
		group.Go(func() {
			assert.NoError(t, h.do(context.Background(), who, func() error { begun <- struct{}{}; <-hold; return nil }))
		})
		for h.free(who) {
			runtime.Gosched()
		}
	}
	full := func(who asker) {
		t.Helper()
		err := h.do(context.Background(), who, func() error { t.Error("it was hashed"); return nil })
		refused(t, err, fault.Unavailable)
		e, _ := fault.As(err)
		assert.That(t, e.Retry != 0, "it is not told when to come again")
	}
	place(stranger(1))
	full(stranger(1))
	for i := 2; i <= maxPlaces-knownPlaces; i++ {
		place(stranger(i))
	}
	full(stranger(100))
	place(known(1))
	full(known(1))
	place(known(2))
	full(known(3))
	close(hold)
	group.Wait()
	assert.That(t, len(begun) == maxPlaces && len(h.places) == 0,
		"%d were hashed, %d places are still taken", len(begun), len(h.places))
}

// free reports whether the asker gets no slot.
func (h *hasher) free(who asker) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.places[who]
}

func TestSessionsEnd(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	s := NewSessions(h.d)
	for name, end := range map[string]func(in db.Caller, token string) error{
		"by signing out": func(_ db.Caller, token string) error { return s.End(ctx, session.Staff, token) },
		"by another password": func(in db.Caller, _ string) error {
			_, err := s.ChangePassword(ctx, db.Caller{User: in.User}, passphrase, "another horse battery", home)
			return err
		},
		"by an invitation that is used": func(in db.Caller, _ string) error { h.accept(s, in.User); return nil },
		"by another role": func(in db.Caller, _ string) error {
			_, err := SetRole(ctx, h.d, db.CLI(""), in.User, "viewer", nil, nil)
			return err
		},
		"by disabling": func(in db.Caller, _ string) error { _, err := disable(ctx, h.d, db.CLI(""), in.User); return err },
		"by removal":   func(in db.Caller, _ string) error { _, err := Remove(ctx, h.d, db.CLI(""), in.User); return err },
		"by oneself":   func(in db.Caller, _ string) error { _, err := EndSession(ctx, h.d, in, in.Session); return err },
		"by oneself, from elsewhere": func(in db.Caller, _ string) error {
			e, err := EndOtherSessions(ctx, h.d, db.Caller{User: in.User})
			assert.That(t, e.Ended == 1, "%d sessions ended, want 1", e.Ended)
			return err
		},
		"after 14 days without use": func(db.Caller, string) error { h.pass(14 * 24 * time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			h.user(name)
			token := h.accept(s, name)
			who, _, err := s.Authenticate(ctx, token, "rental")
			assert.OK(t, err)
			assert.OK(t, end(who, token))
			_, _, err = s.Authenticate(ctx, token, "rental")
			assert.That(t, fault.Is(err, fault.Unauthorized), "the session is answered with %v", err)
		})
	}
}

func TestASessionLastsWhileItIsUsedAndNinetyDaysAtMost(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	token := h.accept(s, "ann")
	for day := 0; day < 89; day += 8 {
		s := NewSessions(h.d) // after a restart too
		_, _, err := s.Authenticate(ctx, token, "store")
		assert.OK(t, err, "on day %d", day)
		assert.OK(t, s.Flush(ctx))
		h.pass(8 * 24 * time.Hour)
	}
	_, _, err := s.Authenticate(ctx, token, "store")
	assert.That(t, fault.Is(err, fault.Unauthorized), "after 96 days: %v", err)
}

func TestSessionKindsAreSeparate(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	staff := h.accept(s, "ann")
	tenant, _, err1 := s.Open(ctx, session.Tenant, 1, home)
	buyer, _, err2 := s.Open(ctx, session.Buyer, 1, home)
	assert.OK(t, errors.Join(err1, err2))
	for range 2 { // read, then cached
		for kind, right := range map[session.Kind]string{session.Staff: staff, session.Tenant: tenant, session.Buyer: buyer} {
			for _, token := range []string{staff, tenant, buyer, "", "nonsense"} {
				v, err := s.Find(ctx, kind, token)
				good := token == right
				assert.That(t, good == (err == nil) && (!good || v.Subject == 1 && v.Kind == kind), "%s: %+v, %v", kind, v, err)
			}
		}
	}
	h.pass(30 * time.Minute)
	_, err := s.Find(ctx, session.Buyer, buyer)
	assert.That(t, err != nil, "a buyer's session lasts longer than half an hour")
	_, err = s.Find(ctx, session.Tenant, tenant)
	assert.NoError(t, err, "a tenant's session has ended")
}

func TestATenantsInvitation(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	s := NewSessions(h.d)
	invite := func() session.Invited {
		v, err := db.Update(ctx, h.d, db.Bookkeeping(), func(tx *db.Tx) (session.Invited, error) {
			return session.Invite(tx, session.Tenant, 7, "ann")
		})
		assert.OK(t, err)
		return v
	}
	v := invite()
	typed := strings.ToLower(strings.ReplaceAll(v.Code, "0", "o"))
	_, in, err := s.AcceptTenant(ctx, "", typed, home)
	assert.Must(t, err == nil && in.Subject == 7, "the code %s: %+v, %v", v.Code, in, err)
	_, err = s.InvitedTo(ctx, session.Tenant, v.Token)
	assert.NoError(t, err, "the link after the code")
	_, in, err = s.AcceptTenant(ctx, v.Token, "", home)
	assert.Must(t, err == nil && in.Subject == 7, "the link: %+v, %v", in, err)
	_, _, err = s.AcceptTenant(ctx, v.Token, "", home)
	assert.That(t, fault.Is(err, fault.Gone), "the link again: %v", err)
	for range 3 { // each use extends it to 400 days
		h.pass(399 * 24 * time.Hour)
		_, in, err := s.AcceptTenant(ctx, "", v.Code, home)
		assert.Must(t, err == nil && in.Subject == 7, "the code again: %+v, %v", in, err)
	}
	later := invite()
	if _, _, err := s.AcceptTenant(ctx, "", v.Code, home); !fault.Is(err, fault.Gone) || !strings.Contains(err.Error(), "check the code") {
		t.Errorf("a code that another took the place of: %v", err)
	}
	h.pass(14 * 24 * time.Hour)
	_, _, err = s.AcceptTenant(ctx, later.Token, "", home)
	assert.That(t, fault.Is(err, fault.Gone), "the link after two weeks: %v", err)
	h.pass(386 * 24 * time.Hour)
	_, _, err = s.AcceptTenant(ctx, "", later.Code, home)
	assert.That(t, fault.Is(err, fault.Gone), "a code unused for 400 days: %v", err)
}

// TestWrongCodesSlowOnlyCodes sends wrong codes from the office's address, one by one and many at once. The 21st within
// an hour is refused, and staff can still sign in there.
func TestWrongCodesSlowOnlyCodes(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	h.accept(s, "ann")
	v, err := db.Update(ctx, h.d, db.Bookkeeping(), func(tx *db.Tx) (session.Invited, error) {
		return session.Invite(tx, session.Tenant, 7, "ann")
	})
	assert.OK(t, err)
	var wrong, limited atomic.Int64
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			switch _, _, err := s.AcceptTenant(ctx, "", "22222222", home); {
			case fault.Is(err, fault.NotFound):
				wrong.Add(1)
			case fault.Is(err, fault.Limited):
				limited.Add(1)
			}
		})
	}
	all.Wait()
	assert.That(t, wrong.Load() == 20 && limited.Load() == 40,
		"%d were tried and %d refused", wrong.Load(), limited.Load())
	_, _, err = s.AcceptTenant(ctx, "", v.Code, home)
	refused(t, err, fault.Limited, "wait 60 minutes")
	_, _, err = s.SignIn(ctx, "ann", passphrase, home)
	assert.NoError(t, err, "staff at the same address")
	_, _, err = s.AcceptTenant(ctx, v.Token, "", home)
	assert.NoError(t, err, "a link at the same address")
	h.pass(time.Hour)
	_, _, err = s.AcceptTenant(ctx, "", v.Code, home)
	assert.NoError(t, err, "an hour later")
}

func TestThePasswordIsAskedForAgain(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("ann")
	s := NewSessions(h.d)
	token := h.accept(s, "ann")
	fresh := func() bool {
		v := assert.Value(s.Find(ctx, session.Staff, token))(t)
		return v.Fresh(exact.InstantOf(h.now()))
	}
	assert.That(t, fresh(), "just signed in, and asked again")
	h.pass(15 * time.Minute)
	assert.That(t, !fresh(), "not asked again after 15 minutes")
	v, _ := s.Find(ctx, session.Staff, token)
	refused(t, s.Confirm(ctx, v, "wrong password", home), fault.Invalid, "password")
	if err := s.Confirm(ctx, v, passphrase, home); err != nil || !fresh() {
		t.Errorf("confirmed, and asked again: %v", err)
	}
	cookie, in, err := s.Accept(ctx, s.Demo("ann"), "", home)
	assert.That(t, err == nil && cookie != "" && in.User == "ann", "the demo's link: %+v, %v", in, err)
}
