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
		Did: func(answer any, _ schema.Money) string {
			return "password changed; " + others(answer.(Ended).Ended)
		},
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
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, who db.Caller) (any, error) {
				all, err := o.sessions.OwnSessions(ctx, who)
				return schema.Answer(SessionList{Sessions: all}, err)
			}
		},
	}
}

func (o ops) endSession() schema.Op {
	return schema.Op{
		Name: "end_session", Personal: true, About: "End one of your sessions: that browser is signed out.",
		Response: Ended{Ended: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			f.ID(&id, "id", "the session's number", schema.Required)
			return func(ctx context.Context, who db.Caller) (any, error) {
				return schema.Answer(Ended{Ended: 1}, EndSession(ctx, o.d, who, id))
			}
		},
		Did:   func(any, schema.Money) string { return "the session has ended" },
		Leads: toAccount,
	}
}

func (o ops) endOtherSessions() schema.Op {
	return schema.Op{
		Name: "end_other_sessions", Personal: true, Idempotent: true,
		About:    "End all of your sessions but this one.",
		Response: Ended{Ended: 2},
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, who db.Caller) (any, error) {
				n, err := EndOtherSessions(ctx, o.d, who)
				return schema.Answer(Ended{Ended: n}, err)
			}
		},
		Did:   func(answer any, _ schema.Money) string { return others(answer.(Ended).Ended) },
		Leads: toAccount,
	}
}

func (o ops) setPreferences() schema.Op {
	return schema.Op{
		Name: "set_preferences", Personal: true, Idempotent: true,
		About:    "How pages look and react: light, dark or as your system is set, and keyboard shortcuts.",
		Response: Preferences{Theme: "auto", Keys: true},
		Bind: func(f *schema.Form) schema.Handler {
			var theme *string
			var keys *bool
			var t string
			var k bool
			if f.Enum(&t, "theme", "auto follows the system", Themes) {
				theme = &t
			}
			if f.Bool(&k, "keys", "keyboard shortcuts") {
				keys = &k
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				return schema.Answer(SetPreferences(ctx, o.d, who, theme, keys))
			}
		},
		Did:   func(any, schema.Money) string { return "preferences saved" },
		Leads: toAccount,
	}
}
