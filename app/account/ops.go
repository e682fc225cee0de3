package account

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/session"
)

// ops binds the arguments of the operations on users, keys and the own account.
type ops struct {
	d        *db.DB
	sessions *Sessions
	services []string // all of them, in the order of their ports
}

// Ops are the operations on users, keys and the own account. Without a database they can only be described.
func Ops(d *db.DB, sessions *Sessions, services []string) []schema.Op {
	o := ops{d: d, sessions: sessions, services: services}
	return []schema.Op{
		o.addUser(), o.listUsers(), o.setRole(), o.inviteUser(), o.mailInvitation(),
		o.change("disable", "Stop a user's keys from working and end the user's sessions, from the next request on.", true,
			"enable"),
		o.change("enable", "Let a disabled user's keys work again, and let the user sign in.", false, "disable"),
		o.removeUser(),
		o.createKey(), o.listKeys(), o.revokeKey(),
		o.changePassword(), o.listSessions(), o.endSession(), o.endOtherSessions(), o.setPreferences(), o.setUserEmail(),
		o.setNotices(),
	}
}

// silent is a command that prints only what it did.
func silent(io.Writer, any) {}

// UserList is all users by name.
type UserList struct {
	Users []User `json:"users"`
}

var exampleUser = User{Name: "alice", Roles: map[string]string{"store": "admin", "rental": "member"}}

// bindName binds the name of an existing user.
func bindName(f *schema.Form, p *string) {
	f.Text(p, "name", "the user's name", schema.Most(most+1), schema.Positional("NAME"), schema.ChoicesFor(userChoices),
		needed(f))
}

// needed makes an argument mandatory on pages; a command counts its words, and leaves an empty one to the operation.
func needed(f *schema.Form) schema.Opt {
	return func(a *schema.Arg) { a.Required = f.Surface() != schema.Command }
}

// userChoices are the users whom an admin may see: of their own services, and those without any.
func userChoices(c *db.Conn, who db.Caller, f schema.Find) ([]schema.Choice, error) {
	users, err := usersFor(c, who)
	return schema.People("", schema.Map(users, func(u User) string { return u.Name }), err)(c, f)
}

// servicesOn offers the services that are on.
var servicesOn = schema.Among(func(c *db.Conn) (all []schema.Choice, err error) {
	on, err := schema.ServicesOn(c)
	for _, s := range on {
		all = append(all, schema.Choice{Value: s, Text: strings.ToUpper(s[:1]) + s[1:]})
	}
	return all, err
})

// in binds the services of an operation, each from the list.
func (o ops) in(f *schema.Form, p *[]string, about, none string) {
	f.Texts(p, "service", about+": "+strings.Join(o.services, ", "), len(o.services), 20,
		func(a *schema.Arg) { a.Enum = o.services },
		schema.Choices(servicesOn), schema.Help(none))
	for _, s := range *p {
		if !slices.Contains(o.services, s) {
			f.Refuse("service", "%s: %s is not allowed; it takes one of %s",
				map[bool]string{true: "--service", false: "service"}[f.Surface() == schema.Command],
				schema.Quote(s), strings.Join(o.services, ", "))
		}
	}
}

// rolesLine lists the roles in the order of the services.
func (o ops) rolesLine(roles map[string]string) string {
	var parts []string
	for _, s := range o.services {
		if role := roles[s]; role != "" {
			parts = append(parts, s+" "+role)
		}
	}
	if len(parts) == 0 {
		return "no role"
	}
	return strings.Join(parts, ", ")
}

func (o ops) addUser() schema.Op {
	return schema.Op{
		Name: "add_user", Writes: true, Admin: true, Creates: true,
		About: "Add a user with a role in the named services, or in all that you are an admin of. " +
			"An invitation then lets the user sign in.",
		Command:  "user add NAME",
		Example:  "user add alice --role admin\nuser add bob --role viewer --service rental --service reorder",
		Response: exampleUser, Print: silent,
		Bind: schema.Does3(func(f *schema.Form, name, role *string, services *[]string) {
			f.Text(name, "name", "the new user's name", schema.Most(most+1), schema.Positional("NAME"), needed(f))
			f.Enum(role, "role", "a viewer reads; a member and an admin read and write", Roles, schema.Required)
			o.in(f, services, "the services that the user may use", "Without a mark: all of which you are an admin.")
		}, func(ctx context.Context, who db.Caller, name, role string, services []string) (u User, err error) {
			if services, err = o.own(ctx, who, services); err != nil {
				return u, err
			}
			return AddUser(ctx, o.d, who, name, role, services)
		}),
		Did: schema.Said(func(u User) string {
			return fmt.Sprintf("user %s added: %s", u.Name, o.rolesLine(u.Roles))
		}),
		Leads: toUsers,
		Undo: func(answer any) *schema.Undo {
			return &schema.Undo{Op: "remove_user", Label: "Remove", Fields: map[string]string{"name": answer.(User).Name}}
		},
	}
}

func toUsers(any) string { return "/users" }

// own returns the named services, else all of which the caller is admin.
func (o ops) own(ctx context.Context, who db.Caller, named []string) (services []string, err error) {
	if len(named) > 0 {
		return named, nil
	}
	return db.Read(ctx, o.d, func(c *db.Conn) ([]string, error) {
		in, all, err := adminOf(c, who)
		return slices.DeleteFunc(slices.Clone(o.services), func(s string) bool { return !all && !in[s] }), err
	})
}

func (o ops) listUsers() schema.Op {
	return schema.Op{
		Name: "list_users", Admin: true, About: "The users with their roles.",
		Command: "user list", Example: "user list --json", Response: UserList{Users: []User{exampleUser}},
		Bind: schema.Acts(func(ctx context.Context, who db.Caller) (UserList, error) {
			users, err := Users(ctx, o.d, who)
			return UserList{Users: users}, err
		}),
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "USER|STATE|ROLES", answer.(UserList).Users, func(u User) []any {
				state := "enabled"
				if u.Disabled {
					state = "disabled"
				}
				return []any{u.Name, state, o.rolesLine(u.Roles)}
			})
		},
	}
}

func (o ops) setRole() schema.Op {
	return schema.Op{
		Name: "set_role", Writes: true, Admin: true, Idempotent: true,
		About: "Change a user's role in the named services, or in all where the user has one. The role none removes it. " +
			"The user's sessions end.",
		Command: "user role NAME ROLE", Example: "user role bob member\nuser role bob viewer --service store",
		Response: exampleUser, Print: silent,
		Bind: schema.Does3(func(f *schema.Form, name, role *string, services *[]string) {
			bindName(f, name)
			o.in(f, services, "the service; may be repeated", "Without a mark: all in which the user has a role now.")
			f.Enum(role, "role", "viewer, member or admin; none removes the role", append(slices.Clone(Roles), NoRole),
				schema.Required, schema.Positional("ROLE"))
			if *role == NoRole && len(*services) == 0 {
				f.Refuse("service", "service is missing: name the services in which the role none removes the user")
			}
		}, func(ctx context.Context, who db.Caller, name, role string, services []string) (User, error) {
			return SetRole(ctx, o.d, who, name, role, services, o.services)
		}),
		Did:   schema.Said(func(u User) string { return fmt.Sprintf("user %s: %s", u.Name, o.rolesLine(u.Roles)) }),
		Leads: toUsers,
	}
}

// change is disable or enable; back is its inverse.
func (o ops) change(word, about string, disabled bool, back string) schema.Op {
	return schema.Op{
		Name: word + "_user", Writes: true, Admin: true, About: about,
		Command: "user " + word + " NAME", Example: "user " + word + " bob", Response: exampleUser, Print: silent,
		Bind: schema.Does(bindName, func(ctx context.Context, who db.Caller, name string) (User, error) {
			return setDisabled(ctx, o.d, who, name, disabled)
		}),
		Did:   schema.Said(func(u User) string { return fmt.Sprintf("user %s %sd", u.Name, word) }),
		Leads: toUsers,
		Undo: func(answer any) *schema.Undo {
			label := strings.ToUpper(back[:1]) + back[1:]
			return &schema.Undo{Op: back + "_user", Label: label, Fields: map[string]string{"name": answer.(User).Name}}
		},
	}
}

func (o ops) removeUser() schema.Op {
	return schema.Op{
		Name: "remove_user", Writes: true, Admin: true, Destructive: true,
		About:   "Remove a user for good: roles, keys and sessions end. The name stays in Activity and cannot be used again.",
		Command: "user remove NAME", Example: "user remove bob", Response: Removed{User: exampleUser, Keys: 1, Sessions: 2},
		Print: silent,
		Bind: schema.Does(bindName, func(ctx context.Context, who db.Caller, name string) (Removed, error) {
			return Remove(ctx, o.d, who, name)
		}),
		Did: func(answer any, _ schema.Money) string { return "user " + answer.(Removed).Name + " removed" },
		Will: schema.Said(func(r Removed) string {
			return fmt.Sprintf("The user %s is removed: %s, %s and %s end for good. The name cannot be used again.",
				r.Name, exact.Plural(len(r.Roles), "role", "roles"), exact.Plural(r.Keys, "key", "keys"),
				exact.Plural(r.Sessions, "session", "sessions"))
		}),
		Leads: toUsers,
	}
}

// Link is an invitation's link, shown once.
type Link struct {
	Name      string        `json:"name"`
	Link      string        `json:"link"`
	ExpiresAt exact.Instant `json:"expires_at"`

	token, by string
}

// Redacted is the answer without the link, which is stored nowhere.
func (l Link) Redacted() any { l.Link, l.token = "", ""; return l }

func (o ops) inviteUser() schema.Op {
	return schema.Op{
		Name: "invite_user", Writes: true, Admin: true, Credential: true, Creates: true,
		About: "Invite a user to set a first or a new password. Prints a link once; it works once within 24 hours. An " +
			"earlier link ends.",
		Command: "user invite NAME", Example: "user invite bob",
		Response: Link{Name: "bob", Link: "http://127.0.0.1:8081/welcome/...", ExpiresAt: 1795295100},
		Bind: schema.Does(bindName, func(ctx context.Context, who db.Caller, name string) (Link, error) {
			return invite(ctx, o.d, who, name, append([]string{who.Service}, o.services...)...)
		}),
		Print: schema.Printed(func(w io.Writer, l Link) { _, _ = fmt.Fprintln(w, l.Link) }),
		Did: schema.Said(func(l Link) string {
			return fmt.Sprintf("user %s invited until %s; the link is shown only now", l.Name, l.ExpiresAt)
		}),
		Leads: toUsers,
	}
}

// Address is a public address at which people sign in: that of the first of the services
// that are on and of which one is known, else the default of the first that is on.
func Address(ctx context.Context, d *db.DB, services ...string) (address string, err error) {
	return db.Read(ctx, d, func(c *db.Conn) (string, error) { return addressOf(c, services) })
}

func addressOf(c *db.Conn, services []string) (address string, err error) {
	on, err := schema.ServicesOn(c)
	if err != nil {
		return "", err
	}
	for _, s := range services {
		if !slices.Contains(on, s) {
			continue // its address is of the time when it was on
		}
		if address, err = c.Setting(db.SettingAddress + "." + s); err != nil || address != "" {
			return strings.TrimSuffix(address, "/"), err
		}
	}
	return fmt.Sprintf("http://127.0.0.1:%d", firstPort+slices.Index(schema.ServiceNames, on[0])), nil
}

// firstPort is where the first of the services listens by default; the others follow in their order.
const firstPort = 8081

var exampleSession = session.Session{ID: 3, Device: "Firefox on Linux", Address: "192.0.2.1", CreatedAt: 1795208700,
	SeenAt: 1795208700}
