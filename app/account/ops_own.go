package account

import (
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/session"
)

// SessionList is the caller's sessions, last seen first.
type SessionList struct {
	Sessions []OwnSession `json:"sessions"`
}

// Ended is the number of ended sessions.
type Ended struct {
	Ended int `json:"ended"`
}

func toAccount(any) string { return "/account" }

func (o ops) changePassword() schema.Op {
	return schema.Op{
		Name: "change_password", Personal: true,
		About:    "Change your password. Your other sessions end.",
		Response: Ended{Ended: 2},
		Bind: func(f *schema.Form) schema.Handler {
			var current, password, remote string
			f.Text(&current, "current", "your password now", schema.Secret, schema.Label("Current password"))
			f.Text(&password, "password",
				"the new password: 10 to 200 characters of any kind", schema.Secret, schema.Required, schema.Label("New password"))
			f.Remote(&remote)
			return func(ctx context.Context, who db.Caller) (any, error) {
				n, err := o.sessions.ChangePassword(ctx, who, current, password, session.From{Address: remote})
				return schema.Answer(Ended{Ended: n}, err)
			}
		},
		Did:   schema.Said(func(e Ended) string { return "password changed; " + others(e.Ended) }),
		Leads: toAccount,
	}
}

func others(n int) string {
	switch n {
	case 0:
		return "there was no other session"
	case 1:
		return "the other session has ended"
	}
	return fmt.Sprintf("%d other sessions have ended", n)
}

func (o ops) listSessions() schema.Op {
	return schema.Op{
		Name: "list_sessions", About: "Your sessions: where you are signed in, the last used first.",
		Response: SessionList{Sessions: []OwnSession{{Session: exampleSession, Current: true}}},
		Bind: schema.Acts(func(ctx context.Context, who db.Caller) (SessionList, error) {
			all, err := o.sessions.OwnSessions(ctx, who)
			return SessionList{Sessions: all}, err
		}),
	}
}

func (o ops) endSession() schema.Op {
	return schema.Op{
		Name: "end_session", Personal: true, About: "End one of your sessions: that browser is signed out.",
		Response: Ended{Ended: 1},
		Bind: schema.Does(func(f *schema.Form, id *int64) { f.ID(id, "id", "the session's number", schema.Required) },
			func(ctx context.Context, who db.Caller, id int64) (Ended, error) {
				return EndSession(ctx, o.d, who, id)
			}),
		Did:   func(any, schema.Money) string { return "the session has ended" },
		Leads: toAccount,
	}
}

func (o ops) endOtherSessions() schema.Op {
	return schema.Op{
		Name: "end_other_sessions", Personal: true, Idempotent: true,
		About:    "End all of your sessions but this one.",
		Response: Ended{Ended: 2},
		Bind: schema.Acts(func(ctx context.Context, who db.Caller) (Ended, error) {
			return EndOtherSessions(ctx, o.d, who)
		}),
		Did:   schema.Said(func(e Ended) string { return others(e.Ended) }),
		Leads: toAccount,
	}
}

func (o ops) setPreferences() schema.Op {
	return schema.Op{
		Name: "set_preferences", Personal: true, Idempotent: true,
		About:    "How pages look and react: light, dark or as your system is set, and keyboard shortcuts.",
		Response: Preferences{Theme: "auto", Keys: true},
		Bind: schema.Does2(func(f *schema.Form, theme **string, keys **bool) {
			var t string
			var k bool
			if f.Enum(&t, "theme", "auto follows the system", Themes) {
				*theme = &t
			}
			if f.Bool(&k, "keys", "keyboard shortcuts") {
				*keys = &k
			}
		}, func(ctx context.Context, who db.Caller, theme *string, keys *bool) (Preferences, error) {
			return SetPreferences(ctx, o.d, who, theme, keys)
		}),
		Did:   func(any, schema.Money) string { return "preferences saved" },
		Leads: toAccount,
	}
}
