package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
)

// Passwords are stored as argon2id with 7 MiB, 5 passes and one lane, which OWASP considers equal to its other choices
// and which suits a small machine.
const (
	argonMemory = 7 * 1024 // KiB
	argonPasses = 5
	argonLanes  = 1
	saltLength  = 16
	hashLength  = 32
)

// shortestPassword and longestPassword bound a password's length, in characters.
const (
	shortestPassword = 10
	longestPassword  = 200
)

//go:embed common.txt
var commonText string

// common are the passwords guessed first, in lower case, without those that are too short anyway.
var common = func() map[string]bool {
	m := map[string]bool{}
	for p := range strings.FieldsSeq(commonText) {
		m[p] = true
	}
	return m
}()

// CheckPassword refuses a password that is too short, too long or among the most common. The field is its argument.
func CheckPassword(field, password string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return fault.Fieldf(field, "%s is not valid UTF-8", field)
	case n < shortestPassword || n > longestPassword:
		return fault.Fieldf(field,
			"%s has %d characters; %d to %d are allowed, of any kind", field, n, shortestPassword, longestPassword)
	case common[strings.ToLower(password)]:
		return fault.Fieldf(field, "%s is a very common password, which attackers try first; choose another, such as four "+
			"random words", field)
	}
	return nil
}

// hasher hashes one password at a time and lets a few wait: each takes 7 MiB and at least 20 ms, and anyone can cause
// it. Each asker has one slot, and some slots are reserved for known ones.
type hasher struct {
	turn chan struct{}

	mu     sync.Mutex
	places map[asker]bool // taken slots, including the running one's
}

// asker holds a slot: an address, or a known pair of name and address.
type asker struct {
	network limit.Address
	known   string // the name; "" for a stranger
}

// maxPlaces is the number of slots, of which some are reserved for known askers.
const (
	maxPlaces   = 9
	knownPlaces = 2
)

func newHasher() *hasher { return &hasher{turn: make(chan struct{}, 1), places: map[asker]bool{}} }

// do calls fn when it is the asker's turn.
func (h *hasher) do(ctx context.Context, who asker, fn func() error) error {
	if !h.enter(who) {
		e := fault.Unavailablef(nil, "too many people are signing in right now: nothing was changed; try again in a second")
		e.Retry = time.Second
		return e
	}
	defer h.leave(who)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-h.turn }()
	return fn()
}

func (h *hasher) enter(who asker) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	strangers := 0
	for other := range h.places {
		if other.known == "" {
			strangers++
		}
	}
	if h.places[who] || len(h.places) == maxPlaces || who.known == "" && strangers == maxPlaces-knownPlaces {
		return false
	}
	h.places[who] = true
	return true
}

func (h *hasher) leave(who asker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.places, who)
}

// hashPassword returns the stored form of the password, in PHC notation.
func hashPassword(password string) string {
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	sum := argon(password, salt)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

func argon(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, argonPasses, argonMemory, argonLanes, hashLength)
}

// samePassword reports whether the password matches the stored one. It takes the same time if there is none.
func samePassword(kept, password string) bool {
	salt, want := make([]byte, saltLength), make([]byte, hashLength)
	good := false
	if parts := strings.Split(kept, "$"); len(parts) == 6 {
		s, err1 := base64.RawStdEncoding.DecodeString(parts[4])
		w, err2 := base64.RawStdEncoding.DecodeString(parts[5])
		if err1 == nil && err2 == nil {
			salt, want, good = s, w, true
		}
	}
	return subtle.ConstantTimeCompare(argon(password, salt), want) == 1 && good
}
