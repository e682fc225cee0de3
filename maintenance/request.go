package maintenance

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// How many requests without an account are accepted from one address in an hour.
const (
	maxRequests   = 5
	requestWindow = 60 * 60 // seconds
)

// Requests is whether people without an account may request work on an asset, and the address.
type Requests struct {
	AssetID int64   `json:"asset_id"`
	Asset   string  `json:"asset"`
	On      bool    `json:"on"`
	Path    *string `json:"path" about:"the path of the request page; null while requests are off"`
}

// SetRequests turns requests for an asset on or off. The address stays the same when they are turned on again, so that
// a label on the machine works again. Only an admin may.
func (s *Service) SetRequests(ctx context.Context, who db.Caller, assetID int64, on bool) (Requests, error) {
	if who.Role != "admin" {
		return Requests{}, fault.Forbiddenf("only an admin may turn requests on or off; the user %s has the role %s",
			who.User, who.Role)
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Requests, error) { return setRequests(tx, assetID, on) })
}

func setRequests(tx *db.Tx, assetID int64, on bool) (none Requests, err error) {
	a, err := assets.ByID(&tx.Conn, assetID)
	if err != nil {
		return none, err
	}
	held, err := requestsOf(&tx.Conn, assetID)
	if err != nil || held.On == on {
		return held, err
	}
	if on {
		if err := a.takesWork("asset_id"); err != nil {
			return none, err
		}
	}
	tx.Do("UPDATE assets SET requests = ?, request_token = coalesce(request_token, ?) WHERE id = ?", on,
		newToken(), assetID)
	if err := tx.Audit("asset.requests", db.Subject("asset", assetID), map[string]bool{"on": on}); err != nil {
		return none, err
	}
	return requestsOf(&tx.Conn, assetID)
}

// newToken is 16 random bytes as they stand in an address.
func newToken() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func requestsOf(c *db.Conn, assetID int64) (Requests, error) {
	r, found, err := db.One(c, func(r *db.Row) Requests {
		q := Requests{AssetID: r.Int(), Asset: r.Text(), On: r.Bool()}
		if token := r.Text(); q.On && token != "" {
			q.Path = db.NullText("/request/" + token)
		}
		return q
	}, "SELECT id, name, requests, request_token FROM assets WHERE id = ?", assetID)
	if err == nil && !found {
		err = fault.NotFoundf("there is no asset %d", assetID)
	}
	return r, err
}

// Requests reports whether requests for an asset are on, and their address.
func (s *Service) Requests(ctx context.Context, assetID int64) (Requests, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Requests, error) { return requestsOf(c, assetID) })
}

// RequestedAsset is the asset on a request's page.
type RequestedAsset struct {
	AssetID                   int64
	AssetTag, Asset, Location string
}

// RequestFor finds the asset of a token whose requests are on; any other is 404.
func (s *Service) RequestFor(ctx context.Context, token string) (RequestedAsset, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (RequestedAsset, error) { return requestFor(c, token) })
}

func requestFor(c *db.Conn, token string) (RequestedAsset, error) {
	a, found, err := db.One(c, func(r *db.Row) RequestedAsset {
		return RequestedAsset{AssetID: r.Int(), AssetTag: r.Text(), Asset: r.Text(), Location: r.Text()}
	}, "SELECT id, asset_tag, name, location FROM assets WHERE request_token = ? AND requests = 1 AND status <> 'retired'",
		token)
	if err == nil && (!found || token == "") {
		err = fault.NotFoundf("this request page was not found; ask for a new label")
	}
	return a, err
}

// NewRequest is a visitor's request without an account. Photo without data is none.
type NewRequest struct {
	Token       string
	Description string
	Name        string
	Email       string // "" is none: nobody is notified
	Photo       schema.File
	Address     string // the client's
}

// Requested is the result of a request.
type Requested struct {
	WorkOrderID int64  `json:"work_order_id"`
	Asset       string `json:"asset"`
}

// requestWork opens a work order for a visitor without an account: priority medium, the name in its first line. From
// one address 5 an hour are accepted, the next is 429.
func requestWork(tx *db.Tx, n NewRequest) (none Requested, err error) {
	a, err := requestFor(&tx.Conn, n.Token)
	if err != nil {
		return none, err
	}
	text, err := n.text()
	if err != nil {
		return none, err
	}
	if err := admit(tx, n.Address); err != nil {
		return none, err
	}
	email, err := requester("email", n.Email)
	if err != nil {
		return none, err
	}
	wo, err := openWorkOrder(tx, WorkOrder{AssetID: a.AssetID, Description: text, RequesterEmail: email})
	if err != nil {
		return none, err
	}
	if len(n.Photo.Data) > 0 {
		if _, err := addPhoto(tx, wo.ID, cmp.Or(n.Photo.Name, "photo"), "", n.Photo.Data); err != nil {
			return none, err
		}
	}
	return Requested{WorkOrderID: wo.ID, Asset: a.Asset}, nil
}

// text is the order's description: the name, then what was written.
func (n NewRequest) text() (string, error) {
	description, err := needed("description", n.Description, maxText)
	if err != nil {
		return "", err
	}
	name, err := text("name", n.Name, maxName)
	if err != nil || name == "" {
		return description, err
	}
	name = strings.Join(strings.Fields(name), " ")
	return text("description", name+": "+description, maxText)
}

// admit counts an address's requests of the last hour. IPv6 addresses count by their /64, which belongs to one client.
func admit(tx *db.Tx, address string) error {
	address = network(address)
	since := tx.Now() - requestWindow
	type counted struct {
		n     int64
		first exact.Instant
	}
	in, _, err := db.One(&tx.Conn, func(r *db.Row) counted { return counted{n: r.Int(), first: r.Instant()} },
		"SELECT count(*), coalesce(min(at), 0) FROM accepted_requests WHERE address = ? AND at > ?", address, since)
	if err != nil {
		return err
	}
	if in.n >= maxRequests {
		e := fault.New(fault.Limited, "%d requests came from this address within an hour; try again later", maxRequests)
		e.Retry = time.Duration(in.first-since) * time.Second
		return e
	}
	tx.Do("DELETE FROM accepted_requests WHERE at <= ?", since)
	tx.Do("INSERT INTO accepted_requests (address, at) VALUES (?, ?)", address, tx.Now())
	return nil
}

func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		if ap, err := netip.ParseAddrPort(address); err == nil {
			ip = ap.Addr()
		} else {
			return address
		}
	}
	if ip = ip.Unmap(); ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// RequestOp lets a visitor without an account ask for work.
func (s *Service) RequestOp() schema.Op {
	return schema.Op{
		Name: "report_problem", Route: "POST /request/:token",
		About:  "Report a problem with a machine, without an account.",
		Writes: true, Creates: true, MaxBody: MaxPhoto + 1<<20, Response: Requested{WorkOrderID: 12, Asset: "Lathe"},
		Bind: schema.Writes(s.db, func(f *schema.Form, n *NewRequest) {
			f.Text(&n.Token, "token", "the address of the machine", schema.InPath("token"), schema.Most(maxName))
			f.Text(&n.Description, "description", "what you see, hear or smell", schema.Required, schema.Most(maxText-maxName-2),
				schema.Lines, schema.Label("What is wrong"))
			f.Text(&n.Name, "name", "so that we can ask you", schema.Most(maxName), schema.Label("Your name"))
			f.File(&n.Photo, "photo", "a picture helps", MaxPhoto)
			if mail.Offered(s.db) {
				f.Text(&n.Email, "email", "we write to you when it is done", schema.Most(254), schema.Label("Your e-mail"))
			}
			f.Remote(&n.Address)
		}, requestWork),
		Refuses: []fault.Kind{fault.NotFound, fault.Limited},
		Did: func(answer any, _ schema.Money) string {
			return "It was sent to the people who look after " + answer.(Requested).Asset + "."
		},
	}
}

func (s *Service) setRequests() schema.Op {
	path := "/request/Kx3mB1tqS9yZ0aVw7uN2Lg"
	return schema.Op{
		Name: "set_requests", About: "Turn requests for an asset on or off: people without an account report problems at " +
			"an address printed as a QR code. " +
			"A request becomes an open work order; 5 an hour are accepted from one address.",
		Writes: true, Admin: true, Idempotent: true, Response: Requests{AssetID: 1, Asset: "Lathe", On: true, Path: &path},
		Bind: schema.Does2(func(f *schema.Form, id *int64, on *bool) {
			*on = true
			bindAssetID(f, "asset_id", id)
			f.Bool(on, "on", "false turns them off")
		}, s.SetRequests),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance requests LATHE-1\nmaintenance requests LATHE-1 --on=false",
		Print: schema.Printed(func(w io.Writer, r Requests) {
			if r.Path != nil {
				fmt.Fprintf(w, "requests for %s: %s\n", r.Asset, *r.Path)
				return
			}
			fmt.Fprintf(w, "requests for %s are off\n", r.Asset)
		}),
		Did: schema.Said(func(r Requests) string {
			if r.On {
				return fmt.Sprintf("Anyone with the QR code can report problems of %s.", r.Asset)
			}
			return fmt.Sprintf("Requests for %s are off.", r.Asset)
		}),
		Leads: func(answer any) string { return assetPage(answer.(Requests).AssetID) },
	}
}
