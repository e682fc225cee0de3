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

// key is one license of another program. Missing columns leave its values unchanged.
type key struct {
	key, sku, their, email, name, status, limit, expires, created, ref string
	machines                                                           []machine
}

// machine is a seat in the format of the column seats of licenses.
type machine struct {
	Fingerprint string `json:"fingerprint"`
	Label       string `json:"label,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
}

var keyColumns = []string{
	"license_key", "sku", "product_name", "email", "name", "status", "activation_limit", "expires_at", "created_at",
	"provider", "provider_ref", "seats",
}

func (k key) cells(provider string) []string {
	seats := ""
	if len(k.machines) > 0 {
		b, _ := json.Marshal(k.machines) // texts only
		seats = string(b)
	}
	return []string{k.key, k.sku, k.their, k.email, k.name, k.status, k.limit, k.expires, k.created, provider, k.ref,
		seats}
}

// keysOf makes a program whose rows are license keys. from names the columns without which our column stays unchanged.
func keysOf(name, title string, needs, columns []string, from map[string][]string,
	row func(get func(string) string) (k key, skip string, refusal *fault.Error)) *program {
	for _, names := range from {
		columns = append(columns, names...)
	}
	return &program{
		name: name, title: title, table: "licenses", needs: needs, columns: columns, targets: keyColumns, from: from,
		start: func(*translation) maker {
			return func(get func(string) string) ([]string, string, *fault.Error) {
				k, skip, refusal := row(get)
				return k.cells(name), skip, refusal
			}
		},
	}
}

// status maps another program's status; an unknown one is refused.
func status(column, text string, means map[string]string) (string, *fault.Error) {
	if ours, known := means[strings.ToLower(text)]; known {
		return ours, nil
	}
	return "", fault.Fieldf("status", "%s: %s is not known", column, schema.Quote(text))
}

func yes(text string) bool {
	return slices.Contains([]string{"1", "true", "yes", "y"}, strings.ToLower(text))
}

var gumroadKeys = keysOf("gumroad", "Gumroad's sales with license keys",
	[]string{"License Key", "Purchase ID", "Product ID|Item Name"},
	[]string{"License Key", "Giftee Email", "Purchase Email", "Product ID", "Item Name", "Purchase Date", "Purchase ID",
		"Recurring Charge?"},
	map[string][]string{
		"name": {"Buyer Name"}, "expires_at": {"Subscription End Date"}, "product_name": {"Item Name"},
		"status": {"Fully Refunded?", "Access Revoked?", "Disputed?", "Dispute Won?", "License Key Enabled?"}, "seats": {},
		"activation_limit": {},
	},
	func(get func(string) string) (key, string, *fault.Error) {
		k := key{
			key: get("License Key"), sku: anyOf(get, "Product ID", "Item Name"), their: get("Item Name"),
			email:   anyOf(get, "Giftee Email", "Purchase Email"),
			expires: get("Subscription End Date"), created: get("Purchase Date"), ref: get("Purchase ID"),
		}
		switch {
		case k.key == "":
			return k, "the sale has no license key", nil
		case yes(get("Recurring Charge?")):
			return k, "the sale is a later charge of a subscription", nil
		}
		if get("Giftee Email") == "" { // the name is the buyer's
			k.name = get("Buyer Name")
		}
		switch enabled := get("License Key Enabled?"); {
		case yes(get("Fully Refunded?")), yes(get("Access Revoked?")), yes(get("Disputed?")) && !yes(get("Dispute Won?")):
			k.status = "revoked"
		case enabled != "" && !yes(enabled):
			k.status = "suspended"
		}
		return k, "", nil
	})

var eddKeys = keysOf("edd", "Easy Digital Downloads' licenses",
	[]string{"License ID", "License Key", "License Status", "Customer Email", "Product Name"},
	[]string{"License ID", "License Key", "Customer Email", "Product Name", "Purchase Date"},
	map[string][]string{
		"name": {"Customer Name"}, "status": {"License Status"}, "expires_at": {"Expiration Date"},
		"activation_limit": {"Activation Limit"},
		"seats":            {"Activated URLs"}, "product_name": {},
	},
	func(get func(string) string) (k key, skip string, refusal *fault.Error) {
		k = key{
			key: get("License Key"), sku: get("Product Name"), email: get("Customer Email"), name: get("Customer Name"),
			limit: get("Activation Limit"), created: inSeconds(get("Purchase Date")), expires: get("Expiration Date"),
			ref: get("License ID"),
		}
		if k.key == "" {
			return k, "the row has no license key", nil
		}
		if k.limit == "0" {
			k.limit = "unlimited"
		}
		if k.expires = inSeconds(k.expires); strings.EqualFold(k.expires, "lifetime") || k.expires == "0" {
			k.expires = ""
		}
		for _, url := range strings.FieldsFunc(get("Activated URLs"),
			func(r rune) bool { return strings.ContainsRune(",;| \t\r\n", r) }) {
			k.machines = append(k.machines, machine{Fingerprint: url})
		}
		k.status, refusal = status("License Status", get("License Status"), map[string]string{
			"": "active", "active": "active", "inactive": "active", "expired": "expired", "disabled": "suspended",
			"revoked": "revoked",
		})
		return k, "", refusal
	})

var seconds = regexp.MustCompile(`^[1-9][0-9]{7,10}$`)

// inSeconds converts seconds since 1970 to an instant; other texts stay.
func inSeconds(text string) string {
	if !seconds.MatchString(text) {
		return text
	}
	return exact.Instant(parseWhole(text)).String()
}

var lemonKeys = keysOf("lemonsqueezy", "Lemon Squeezy's license keys",
	[]string{"key", "user_email", "product_id", "status"},
	[]string{"key", "user_email", "order_id", "product_id", "created_at"},
	map[string][]string{
		"name": {"user_name"}, "status": {"status"}, "activation_limit": {"activation_limit"}, "expires_at": {"expires_at"},
		"seats":        {"instances"},
		"product_name": {},
	},
	func(get func(string) string) (k key, skip string, refusal *fault.Error) {
		k = key{
			key: get("key"), sku: get("product_id"), email: get("user_email"), name: get("user_name"),
			limit:   get("activation_limit"),
			expires: get("expires_at"), created: get("created_at"), ref: get("order_id"),
		}
		for _, i := range childrenOf(get("instances")) {
			k.machines = append(k.machines, machine{Fingerprint: i["identifier"], Label: i["name"], CreatedAt: i["created_at"]})
		}
		k.status, refusal = status("status", get("status"), map[string]string{
			"": "active", "active": "active", "inactive": "active", "expired": "expired", "disabled": "suspended",
		})
		return k, "", refusal
	})

var polarKeys = keysOf("polar", "Polar's license keys",
	[]string{"key", "customer.email", "benefit_id", "status"},
	[]string{"key", "customer.email", "benefit_id", "created_at"},
	map[string][]string{
		"name": {"customer.name"}, "status": {"status"}, "activation_limit": {"limit_activations"},
		"expires_at": {"expires_at"}, "seats": {"activations"},
		"product_name": {}, "provider_ref": {},
	},
	func(get func(string) string) (k key, skip string, refusal *fault.Error) {
		k = key{
			key: get("key"), sku: get("benefit_id"), email: get("customer.email"), name: get("customer.name"),
			limit:   get("limit_activations"),
			expires: get("expires_at"), created: get("created_at"),
		}
		for _, a := range childrenOf(get("activations")) {
			k.machines = append(k.machines, machine{Fingerprint: a["id"], Label: a["label"], CreatedAt: a["created_at"]})
		}
		k.status, refusal = status("status", get("status"), map[string]string{"": "active", "granted": "active",
			"revoked": "revoked", "disabled": "suspended"})
		return k, "", refusal
	})

var keygenKeys = keysOf("keygen", "Keygen's licenses",
	[]string{"key", "expiry", "status", "maxMachines"},
	[]string{"key", "created", "metadata.email", "owner.email", "owner", "product"},
	map[string][]string{
		"name": {"owner.fullName"}, "status": {"status"}, "activation_limit": {"maxMachines"}, "expires_at": {"expiry"},
		"seats":        {"machines"},
		"product_name": {"product.name"}, "provider_ref": {},
	},
	func(get func(string) string) (k key, skip string, refusal *fault.Error) {
		k = key{
			key: get("key"), sku: anyOf(get, "product", "product.name"), their: get("product.name"),
			email: anyOf(get, "metadata.email", "owner.email"),
			name:  get("owner.fullName"), limit: get("maxMachines"), expires: get("expiry"), created: get("created"),
		}
		if k.email == "" && strings.Contains(get("owner"), "@") {
			k.email = get("owner")
		}
		for _, m := range childrenOf(get("machines")) {
			k.machines = append(k.machines, machine{Fingerprint: m["fingerprint"], Label: m["name"], CreatedAt: m["created"]})
		}
		k.status, refusal = status("status", get("status"), map[string]string{
			"": "active", "active": "active", "inactive": "active", "expiring": "active", "expired": "expired",
			"suspended": "suspended", "banned": "suspended",
		})
		return k, "", refusal
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
