package command

import (
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestOddFilesOfLicenseKeysImport: columns in another order, a byte order mark, semicolons, tabs, another country's
// dates, empty cells, sums at the end, overlapping pages, machines before their license.
func TestOddFilesOfLicenseKeysImport(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("store", "product", "save", "ECHO", "--name", "Tape Echo", "--activation-limit", "3")
	c.Ok("store", "product", "save", "CLUB", "--name", "Klub für Töne")
	c.Ok("store", "provider", "map", "lemonsqueezy", "4711", "ECHO")
	c.Ok("store", "provider", "map", "polar", "ben-1", "ECHO")
	c.Ok("store", "provider", "map", "keygen", "prod-1", "ECHO")

	const gumroad = "License Key;License Key Enabled?;Item Name;Purchase Date;Buyer Name;Giftee Email;Purchase Email;Purchase ID;Recurring Charge?;" +
		"Subscription End Date;Fully Refunded?;Access Revoked?;Disputed?;Dispute Won?;Net Total ($)\r\n" +
		`AAAA0001-BBBB;1;tape echo;2025-05-03;"Ann; Lee";;Ann@Example.COM;gA==;0;;0;0;0;0;9.00` + "\r\n" +
		"AAAA0002-BBBB;;Tape Echo;2025-05-04;Bo;gift@example.com;bo@example.com;gB==;;;;;;;\r\n" +
		"AAAA0003-BBBB;1;KLUB FÜR TÖNE;2025-05-05;Cy;;cy@example.com;gC==;0;2026-01-31;0;0;0;0;\r\n" +
		"AAAA0004-BBBB;1;Tape Echo;2025-05-06;Di;;di@example.com;gD==;0;;1;0;0;0;\r\n" +
		"AAAA0005-BBBB;1;Tape Echo;2025-05-06;Ed;;ed@example.com;gE==;0;;0;0;1;1;\r\n" +
		"AAAA0003-BBBB;1;Klub für Töne;2025-06-05;Cy;;cy@example.com;gH==;1;2026-01-31;0;0;0;0;\r\n" +
		"Totals;;;;;;;;;;;;;;9.00\r\n"
	const edd = "Activated URLs;License Key;License ID;License Status;Customer Email;Customer Name;Product Name;Price ID;Purchase Date;Expiration Date;Activation Limit\n" +
		"\"https://a.example\nhttps://b.example\";edd-0000000001;1;Active;eu@example.com;Eu Ro;Tape Echo;1;15.03.2025;31.12.2030;1\n" +
		";edd-0000000002;2;inactive;eu@example.com;;Tape Echo;;01.03.2025;lifetime;0\n" +
		";edd-0000000003;3;pending;eu@example.com;;Tape Echo;;01.03.2025;30.12.2030;many\n"
	const lemon = `{"meta":{"page":{"currentPage":1}},"data":[{"type":"license-key-instances","id":"1","attributes":{"license_key_id":1,"identifier":"inst-1","name":"B\u00fcro"}},
		{"type":"license-key-instances","id":"2","attributes":{"license_key_id":99,"identifier":"inst-2","name":"nobody's"}}]}` +
		`{"data":[{"type":"license-keys","id":"1","attributes":{"order_id":101,"product_id":4711,"user_name":null,"user_email":"lo@example.com",
		"key":"00000000-0000-4000-8000-000000000001","activation_limit":null,"status":"inactive","disabled":0,"expires_at":null,"created_at":"2025-05-24T14:15:07.000000Z"}}]}` +
		"\n\n" + `{"data":[{"type":"license-keys","id":"2","attributes":{"order_id":101,"product_id":4711,"user_name":"Lo","user_email":"lo@example.com",
		"key":"00000000-0000-4000-8000-000000000002","activation_limit":5,"status":"expired","expires_at":"2025-06-24T14:15:07.000000Z","created_at":"2025-05-24T14:15:07.000000Z"}},
		{"type":"license-keys","id":"1","attributes":{"order_id":101,"product_id":4711,"user_email":"lo@example.com","key":"00000000-0000-4000-8000-000000000001","status":"inactive"}}]}{"data":[]}`
	const polar = `{"items":[{"id":"p1","created_at":"2025-08-01T12:00:00.123456Z","customer":{"email":"po@example.com","name":null,"metadata":{}},"benefit_id":"ben-1",
		"key":"POLAR-00000001-AAAA","status":"granted","limit_activations":null,"expires_at":null}],"pagination":{"total_count":2,"max_page":1}}` +
		`{"id":"p2","created_at":"2025-08-01T12:00:00Z","customer":{"email":"pi@example.com","name":"Pi"},"benefit_id":"ben-1","key":"POLAR-00000002-AAAA","status":"disabled",
		"limit_activations":2,"expires_at":"2029-01-01T00:00:00Z","activations":[{"id":"act-1","label":"Mac","created_at":"2025-08-02T00:00:00Z","meta":{}}]}`
	const keygen = `{"data":[{"id":"m1","type":"machines","attributes":{"fingerprint":"4d:Eq:UV","name":null,"created":"2025-02-01T10:00:00.000Z"},
		"relationships":{"license":{"data":{"type":"licenses","id":"k1"}}}}]}` +
		`{"data":[{"id":"k1","type":"licenses","attributes":{"key":"KG0001-39A6E3-V3","expiry":null,"status":"EXPIRING","maxMachines":0,"metadata":{},"created":"2025-01-01T10:00:00.000Z"},
		"relationships":{"product":{"data":{"type":"products","id":"prod-1"}},"owner":{"data":{"type":"users","id":"u1"}}}},
		{"id":"k2","type":"licenses","attributes":{"key":"KG0002-39A6E3-V3","status":"ACTIVE","metadata":{},"maxMachines":1,"expiry":null,"created":"2025-01-01T10:00:00.000Z"},
		"relationships":{"product":{"data":{"type":"products","id":"prod-1"}},"owner":{"data":null}}}],
		"included":[{"id":"u1","type":"users","attributes":{"email":"owner@example.com","fullName":"Own Er"}}]}`

	for _, f := range []struct {
		name, content      string
		new, same, refused int // same: in a second import
		says               []string
	}{
		{"gumroad.csv", "\ufeff" + gumroad, 5, 5, 0, []string{"separated by ;", "a later charge"}},
		{"gumroad-16.csv", wide(strings.Split(strings.ReplaceAll(gumroad, ";", "\t"), "AAAA0003")[0]), 0, 2, 0, []string{"utf-16", "separated by tab"}},
		{"edd.csv", edd, 2, 2, 1, []string{"DD.MM.YYYY", `line 5: License Status: "pending" is not known`}},
		{"lemonsqueezy.json", lemon, 2, 2, 1, []string{"JSON answers", "line 3: license_key: line 1 has the same key"}},
		{"polar.json", polar, 2, 2, 0, []string{"a file of polar"}},
		{"keygen.json", keygen, 1, 1, 1, []string{"line 2: email is missing"}},
	} {
		before := len(strings.Split(c.Ok("export", "store", "licenses"), "\n"))
		_, _, told := c.Call("import", "store", "licenses", write(c, f.name, f.content))
		for _, text := range f.says {
			assert.Contains(t, told, text, "%s", f.name)
		}
		n := len(strings.Split(c.Ok("export", "store", "licenses"), "\n")) - before
		assert.That(t, n == f.new, "%s: %d are new, want %d: %s", f.name, n, f.new, told)
		counts(c, f.name+" again", 0, 0, f.same, f.refused, "import", "store", "licenses", write(c, f.name, f.content))
	}
	export := "\n" + c.Ok("export", "store", "licenses")
	for _, line := range []string{
		"AAAA0001-BBBB,ECHO,,ann@example.com,", "AAAA0002-BBBB,ECHO,,gift@example.com,,active,", "AAAA0003-BBBB,CLUB,,cy@example.com,Cy,expired,,2026-01-31T00:00:00Z,",
		"AAAA0004-BBBB,ECHO,,di@example.com,Di,revoked,", "AAAA0005-BBBB,ECHO,,ed@example.com,Ed,active,",
		`edd-0000000001,ECHO,,eu@example.com,Eu Ro,active,1,2030-12-31T00:00:00Z,2025-03-15T00:00:00Z,edd,1,,"[{""fingerprint"":""https://a.example"",`,
		"edd-0000000002,ECHO,,eu@example.com,Eu Ro,active,unlimited,,2025-03-01T00:00:00Z,edd,2,,",
		`00000000-0000-4000-8000-000000000001,ECHO,,lo@example.com,Lo,active,,,2025-05-24T14:15:07Z,lemonsqueezy,101,,"[{""fingerprint"":""inst-1"",""label"":""Büro"",`,
		"00000000-0000-4000-8000-000000000002,ECHO,,lo@example.com,Lo,expired,5,2025-06-24T14:15:07Z,2025-05-24T14:15:07Z,lemonsqueezy,101,,",
		"POLAR-00000001-AAAA,ECHO,,po@example.com,,active,,,2025-08-01T12:00:00Z,polar,ORD-",
		"POLAR-00000002-AAAA,ECHO,,pi@example.com,Pi,suspended,2,2029-01-01T00:00:00Z,2025-08-01T12:00:00Z,polar,ORD-",
		"KG0001-39A6E3-V3,ECHO,,owner@example.com,Own Er,active,0,,2025-01-01T10:00:00Z,keygen,ORD-",
	} {
		assert.Contains(t, export, "\n"+line, "%s", line)
	}
	counts(c, "another name of a buyer", 0, 1, 0, 0, "import", "store", "licenses", write(c, "name.csv", "license_key,name\nAAAA0001-BBBB,Ann Roe\n"))
	c.Ok("doctor")
}

// wide is the text as UTF-16 with a byte order mark.
func wide(text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}
