package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// till is a provider whose webhook is understood: a signature and a reader of facts. Everything that follows from the
// facts is shared.
type till struct {
	name, title string
	events      []string // those that the store uses
	hint        string   // what its secret looks like
	notes       []string // what its owner should know
	verify      func(g Signed, body []byte, secret string, now exact.Instant) error
	read        func(e *incoming, body strict.Value) error // fills id (where the body has it), kind, at, test and object
	handler     func(e incoming) (handle handler, why string)
}

// handler books one fact. It is called in the transaction that notes the event.
type handler = func(tx *db.Tx) (Received, error)

// The payment providers.
const (
	stripe       = "stripe"
	lemonSqueezy = "lemonsqueezy"
	polar        = "polar"
)

func tills() []till { return []till{stripeTill(), lemonSqueezyTill(), polarTill()} }

func tillOf(name string) (till, bool) {
	for _, t := range tills() {
		if t.name == name {
			return t, true
		}
	}
	return till{}, false
}

func tillNames() []string { return []string{stripe, lemonSqueezy, polar} }

// Signed are the headers of an event.
type Signed struct {
	Signature string // Stripe-Signature, X-Signature or webhook-signature
	ID, Time  string // webhook-id and webhook-timestamp
}

// Received is the answer to a provider's event. Every well-signed one is answered 200, so that the provider does not
// send it again.
type Received struct {
	Received bool   `json:"received"`
	Outcome  string `json:"outcome" enum:"recorded,refunded,kept,repeated,unclear,ignored"`
	Detail   string `json:"detail"`

	notice string // for the owner's log; "" is nothing
}

// The outcomes of an event.
const (
	outcomeRecorded = "recorded" // an order was booked, or what is known of one or of a subscription changed
	outcomeRefunded = "refunded" // an order was refunded, in full or in part
	outcomeKept     = "kept"     // a refund waits for its payment
	outcomeRepeated = "repeated" // it was done before
	outcomeUnclear  = "unclear"  // a payment that cannot be booked
	outcomeIgnored  = "ignored"  // nothing that the store uses
)

// micros is a time by a provider's clock, in microseconds since 1970: a subscription's events are ordered by it,
// whatever the order of arrival.
type micros int64

func microsOf(at exact.Instant) micros { return micros(at) * 1e6 }

func (m micros) instant() exact.Instant { return exact.Instant(m / 1e6) }

// incoming is an event, as far as all providers have the same data.
type incoming struct {
	provider, id, kind string
	at                 micros // when it happened, by the provider's clock
	test               bool   // of the provider's test mode: nothing was paid
	body               []byte
	object             strict.Value // what it is of
}

// Receive accepts a provider's event: body unparsed, g its headers. Paid checkouts and later invoices of subscriptions
// become orders, refunds and lost disputes refund them; anything else is ignored. A wrong signature writes nothing.
func (s *Service) Receive(ctx context.Context, provider string, body []byte, g Signed) (Received, error) {
	t, known := tillOf(provider)
	if !known {
		return Received{}, fault.NotFoundf("there is no payment provider %s", schema.Quote(provider))
	}
	now, err := db.Read(ctx, s.db, func(c *db.Conn) (exact.Instant, error) {
		secret, err := providerSecret(c, t.name)
		if err == nil && secret == "" {
			err = fault.Malformedf(
				"no signing secret is set, so nothing can be verified: set it with `store provider set %s --secret %s`", t.name,
				t.hint)
		}
		if err != nil {
			return c.Now(), err
		}
		return c.Now(), t.verify(g, body, secret, c.Now())
	})
	var e incoming
	if err == nil {
		e, err = t.parse(body, g.ID)
	}
	if err != nil {
		if _, refused := fault.As(err); refused {
			s.memory.tills.refused(t.name, now, err.Error())
		}
		return Received{}, err
	}
	if e.at == 0 {
		e.at = microsOf(now)
	}
	s.memory.tills.good(t.name, now, e)
	if e.test {
		return e.answer(outcomeIgnored, "it is a test event: nothing was paid"), nil
	}
	handle, why := t.handler(e)
	if handle == nil {
		return e.answer(outcomeIgnored, why), nil
	}
	got, err := db.Update(ctx, s.db, providerCaller(t.name), func(tx *db.Tx) (Received, error) {
		_, done, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_provider_events WHERE provider = ? AND event_id = ?",
			t.name, e.id)
		if err != nil || done {
			return e.answer(outcomeRepeated, "this event was handled before"), err
		}
		return handle(tx)
	})
	if err == nil && got.notice != "" {
		s.notice(got.notice)
	}
	return got, err
}

// parse reads an event's body. An event without a name of its own is known by what came beside
// it, or by its body.
func (t till) parse(body []byte, id string) (incoming, error) {
	e := incoming{provider: t.name, id: id, body: body}
	v, err := strict.Parse(body, strict.MaxDepth)
	if err != nil {
		return e, fault.Malformedf("the body cannot be read as JSON: %v", err)
	}
	if err := t.read(&e, v); err != nil {
		return e, err
	}
	if e.id == "" {
		sum := sha256.Sum256(body)
		e.id = hex.EncodeToString(sum[:])
	}
	return e, nil
}

func (e incoming) answer(outcome, detail string) Received {
	return Received{Received: true, Outcome: outcome, Detail: detail}
}

// done notes the event, so that it is never handled again, with what became of it.
func (e incoming) done(tx *db.Tx, outcome, detail string) (Received, error) {
	tx.Do("INSERT OR IGNORE INTO store_provider_events (provider, event_id, at) VALUES (?, ?, ?)",
		e.provider, e.id, tx.Now())
	err := tx.Audit("provider.event", "event:"+e.id, map[string]string{"provider": e.provider, "type": e.kind,
		"outcome": outcome})
	return e.answer(outcome, detail), err
}

// at follows names into nested objects; what is not there is null.
func at(v strict.Value, names ...string) strict.Value {
	for _, name := range names {
		v, _ = v.Get(name)
	}
	return v
}

func textAt(v strict.Value, names ...string) string { return strings.TrimSpace(at(v, names...).Text()) }

// wordAt reads what may be written as a text or as a number: a quantity, an id; "" is none.
func wordAt(v strict.Value, names ...string) string {
	if n := at(v, names...); n.Kind() != strict.String && n.Kind() != strict.Null {
		return string(n.Raw())
	}
	return textAt(v, names...)
}

// centsAt reads a whole number; what is absent or null is 0.
func centsAt(v strict.Value, names ...string) (int64, error) {
	n := at(v, names...)
	if n.Kind() == strict.Null {
		return 0, nil
	}
	cents, err := strconv.ParseInt(string(n.Raw()), 10, 64)
	if err != nil || cents < 0 || cents > maxPrice {
		return 0, fault.Invalidf("%s is not a valid amount", strings.Join(names, "."))
	}
	return cents, nil
}

// secondsAt reads a time in seconds since 1970; nil is none.
func secondsAt(v strict.Value, names ...string) *exact.Instant {
	n, err := centsAt(v, names...)
	if err != nil || n == 0 {
		return nil
	}
	at := exact.Instant(n)
	return &at
}

// timeAt reads a time as RFC 3339 writes it; 0 is none.
func timeAt(v strict.Value, names ...string) micros {
	t, err := time.Parse(time.RFC3339Nano, textAt(v, names...))
	if err != nil || t.Unix() <= 0 {
		return 0
	}
	return micros(t.UnixMicro())
}

// instantAt is timeAt as an instant; nil is none.
func instantAt(v strict.Value, names ...string) *exact.Instant {
	m := timeAt(v, names...)
	if m == 0 {
		return nil
	}
	at := m.instant()
	return &at
}

// idAt reads a reference: an id, or an object that has one.
func idAt(v strict.Value, name string) string {
	if r := at(v, name); r.Kind() == strict.Object {
		return textAt(r, "id")
	}
	return textAt(v, name)
}

func (s *Service) receive(t till, about, signature, how string, timed bool) schema.Op {
	refusal := signature + " is missing, or does not match the body and the secret."
	if timed {
		refusal = signature + " is missing, does not match the body and the secret, or is older than 5 minutes."
	}
	return schema.Op{
		Name: "receive_" + t.name,
		About: about + " The credential is the provider's signature over the body. A wrong signature, or a body that is " +
			"not an event, " +
			"is refused with 400; everything else is answered 200.",
		Public: true, Writes: true, Idempotent: true,
		Own:      []schema.Refusal{{Kind: fault.Malformed, Detail: refusal}},
		Response: Received{Received: true, Outcome: outcomeRecorded, Detail: "recorded as order " + exampleRef},
		Bind: func(f *schema.Form) schema.Handler {
			var body []byte
			var g Signed
			f.Raw(&body, "the event, as the provider sends it")
			f.Header(&g.Signature, signature, how)
			if signature == standardSignature {
				f.Header(&g.ID, "webhook-id", "the event's name")
				f.Header(&g.Time, "webhook-timestamp", "when it was sent, in seconds since 1970")
			}
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Receive(ctx, t.name, body, g) }
		},
	}
}

const standardSignature = "webhook-signature"

func (s *Service) receiveStripe() schema.Op {
	return s.receive(stripeTill(),
		"Stripe's events: paid Checkout sessions and invoices of subscriptions become orders, refunded charges and lost "+
			"disputes refund them; news of subscriptions and disputes is recorded.", "Stripe-Signature", "Stripe's signature: "+
			"t=<time>,v1=<hex>", true)
}

func (s *Service) receiveLemonSqueezy() schema.Op {
	return s.receive(lemonSqueezyTill(), "Lemon Squeezy's events: paid orders and renewals become orders, refunds "+
		"refund them; news of "+
		"subscriptions is recorded.", "X-Signature", "HMAC-SHA256 of the body with the secret, in hexadecimal digits", false)
}

func (s *Service) receivePolar() schema.Op {
	return s.receive(polarTill(), "Polar's events: paid orders and renewals become orders, refunds refund them; news "+
		"of subscriptions is recorded.",
		standardSignature, "signatures as Standard Webhooks writes them: v1,<base64>, separated by spaces", true)
}
