package table

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// keyFile is another program's file of license keys.
type keyFile struct {
	name, title string
	needs       []string
	reads       []string          // columns that only adjust reads
	cells       map[string]string // by our column, theirs; of "A|B", the first that is not empty
	means       map[string]string // by their status, ours
	// the names of a seat's fingerprint, label and creation, if their cell of seats is a JSON list
	seat   [3]string
	adjust func(get func(string) string, cells map[string]string) (skip string)
}

// machine is a seat in the format of the column seats of licenses.
type machine struct {
	Fingerprint string `json:"fingerprint"`
	Label       string `json:"label,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
}

func seatsOf(all []machine) string {
	if len(all) == 0 {
		return ""
	}
	b, _ := json.Marshal(all) // texts only
	return string(b)
}

var keyColumns = []string{
	"license_key", "sku", "product_name", "email", "name", "status", "activation_limit", "expires_at", "created_at",
	"provider", "provider_ref", "seats",
}

// keysKept are the columns that stay unchanged if the file lacks theirs.
var keysKept = []string{"product_name", "name", "status", "activation_limit", "expires_at", "seats"}

// keysOf makes a program whose rows are license keys.
func keysOf(f keyFile) *program {
	p := &program{name: f.name, title: f.title, table: "licenses", needs: f.needs, columns: f.reads, targets: keyColumns,
		from: map[string][]string{}}
	theirs := map[string][]string{}
	for _, ours := range keyColumns {
		theirs[ours] = strings.FieldsFunc(f.cells[ours], func(r rune) bool { return r == '|' })
		p.columns = append(p.columns, theirs[ours]...)
		if slices.Contains(keysKept, ours) || ours == "provider_ref" && len(theirs[ours]) == 0 {
			p.from[ours] = theirs[ours]
		}
	}
	p.start = func(*translation) maker {
		return func(get func(string) string) ([]string, string, *fault.Error) {
			cells := map[string]string{"provider": f.name}
			for ours, columns := range theirs {
				if len(columns) > 0 {
					cells[ours] = anyOf(get, columns...)
				}
			}
			skip, refusal := f.make(get, cells)
			return schema.Map(keyColumns, func(name string) string { return cells[name] }), skip, refusal
		}
	}
	return p
}

// make makes our values of theirs.
func (f keyFile) make(get func(string) string, cells map[string]string) (skip string, refusal *fault.Error) {
	if f.seat[0] != "" {
		var seats []machine
		for _, o := range childrenOf(cells["seats"]) {
			seats = append(seats, machine{o[f.seat[0]], o[f.seat[1]], o[f.seat[2]]})
		}
		cells["seats"] = seatsOf(seats)
	}
	if f.adjust != nil {
		skip = f.adjust(get, cells)
	}
	if f.means != nil && skip == "" {
		ours, known := f.means[strings.ToLower(cells["status"])]
		if !known {
			return "", fault.Fieldf("status", "%s: %s is not known", f.cells["status"], schema.Quote(cells["status"]))
		}
		cells["status"] = ours
	}
	return skip, nil
}

func yes(text string) bool {
	return slices.Contains([]string{"1", "true", "yes", "y"}, strings.ToLower(text))
}

var gumroadKeys = keysOf(keyFile{
	name: "gumroad", title: "Gumroad's sales with license keys",
	needs: []string{"License Key", "Purchase ID", "Product ID|Item Name"}, reads: []string{"Recurring Charge?"},
	cells: map[string]string{
		"license_key": "License Key", "sku": "Product ID|Item Name", "product_name": "Item Name",
		"email": "Giftee Email|Purchase Email", "name": "Buyer Name", "expires_at": "Subscription End Date",
		"created_at": "Purchase Date", "provider_ref": "Purchase ID",
		"status": "Fully Refunded?|Access Revoked?|Disputed?|Dispute Won?|License Key Enabled?",
	},
	adjust: func(get func(string) string, cells map[string]string) string {
		switch {
		case cells["license_key"] == "":
			return "the sale has no license key"
		case yes(get("Recurring Charge?")):
			return "the sale is a later charge of a subscription"
		}
		if get("Giftee Email") != "" { // the name is the buyer's
			cells["name"] = ""
		}
		cells["status"] = ""
		switch enabled := get("License Key Enabled?"); {
		case yes(get("Fully Refunded?")), yes(get("Access Revoked?")), yes(get("Disputed?")) && !yes(get("Dispute Won?")):
			cells["status"] = "revoked"
		case enabled != "" && !yes(enabled):
			cells["status"] = "suspended"
		}
		return ""
	},
})

var eddKeys = keysOf(keyFile{
	name: "edd", title: "Easy Digital Downloads' licenses",
	needs: []string{"License ID", "License Key", "License Status", "Customer Email", "Product Name"},
	cells: map[string]string{
		"license_key": "License Key", "sku": "Product Name", "email": "Customer Email", "name": "Customer Name",
		"status": "License Status", "activation_limit": "Activation Limit", "created_at": "Purchase Date",
		"expires_at": "Expiration Date", "provider_ref": "License ID", "seats": "Activated URLs",
	},
	means: map[string]string{"": "active", "active": "active", "inactive": "active", "expired": "expired",
		"disabled": "suspended", "revoked": "revoked"},
	adjust: func(_ func(string) string, cells map[string]string) string {
		if cells["license_key"] == "" {
			return "the row has no license key"
		}
		if cells["activation_limit"] == "0" {
			cells["activation_limit"] = "unlimited"
		}
		cells["created_at"], cells["expires_at"] = inSeconds(cells["created_at"]), inSeconds(cells["expires_at"])
		if strings.EqualFold(cells["expires_at"], "lifetime") || cells["expires_at"] == "0" {
			cells["expires_at"] = ""
		}
		var seats []machine
		for _, url := range strings.FieldsFunc(cells["seats"],
			func(r rune) bool { return strings.ContainsRune(",;| \t\r\n", r) }) {
			seats = append(seats, machine{Fingerprint: url})
		}
		cells["seats"] = seatsOf(seats)
		return ""
	},
})

var seconds = regexp.MustCompile(`^[1-9][0-9]{7,10}$`)

// inSeconds converts seconds since 1970 to an instant; other texts stay.
func inSeconds(text string) string {
	if !seconds.MatchString(text) {
		return text
	}
	return exact.Instant(parseWhole(text)).String()
}

var lemonKeys = keysOf(keyFile{
	name: "lemonsqueezy", title: "Lemon Squeezy's license keys",
	needs: []string{"key", "user_email", "product_id", "status"},
	cells: map[string]string{
		"license_key": "key", "sku": "product_id", "email": "user_email", "name": "user_name", "status": "status",
		"activation_limit": "activation_limit", "expires_at": "expires_at", "created_at": "created_at",
		"provider_ref": "order_id", "seats": "instances",
	},
	means: map[string]string{"": "active", "active": "active", "inactive": "active", "expired": "expired",
		"disabled": "suspended"},
	seat: [3]string{"identifier", "name", "created_at"},
})

var polarKeys = keysOf(keyFile{
	name: "polar", title: "Polar's license keys", needs: []string{"key", "customer.email", "benefit_id", "status"},
	cells: map[string]string{
		"license_key": "key", "sku": "benefit_id", "email": "customer.email", "name": "customer.name", "status": "status",
		"activation_limit": "limit_activations", "expires_at": "expires_at", "created_at": "created_at",
		"seats": "activations",
	},
	means: map[string]string{"": "active", "granted": "active", "revoked": "revoked", "disabled": "suspended"},
	seat:  [3]string{"id", "label", "created_at"},
})

var keygenKeys = keysOf(keyFile{
	name: "keygen", title: "Keygen's licenses", needs: []string{"key", "expiry", "status", "maxMachines"},
	reads: []string{"owner"},
	cells: map[string]string{
		"license_key": "key", "sku": "product|product.name", "product_name": "product.name",
		"email": "metadata.email|owner.email", "name": "owner.fullName", "status": "status",
		"activation_limit": "maxMachines", "expires_at": "expiry", "created_at": "created", "seats": "machines",
	},
	means: map[string]string{"": "active", "active": "active", "inactive": "active", "expiring": "active",
		"expired": "expired", "suspended": "suspended", "banned": "suspended"},
	seat: [3]string{"fingerprint", "name", "created"},
	adjust: func(get func(string) string, cells map[string]string) string {
		if cells["email"] == "" && strings.Contains(get("owner"), "@") {
			cells["email"] = get("owner")
		}
		return ""
	},
})

// childrenOf parses a cell that is a JSON list of objects; other cells have none.
func childrenOf(cell string) []map[string]string {
	var list []map[string]any
	if json.Unmarshal([]byte(cell), &list) != nil {
		return nil
	}
	all := make([]map[string]string, len(list))
	for i, o := range list {
		all[i] = map[string]string{}
		for name, v := range o {
			switch v := v.(type) {
			case string:
				all[i][name] = v
			case float64:
				all[i][name] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
	}
	return all
}
