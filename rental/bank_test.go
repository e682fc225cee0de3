package rental

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

const iban = "DE89370400440532013000"

// bank makes the rent account, in the shop's currency.
func (h *fixture) bank() {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		if err := tx.SetSetting(db.SettingCurrency, "EUR"); err != nil {
			return err
		}
		return tx.Audit("setting.changed", "settings", map[string]any{"currency": "EUR"})
	}))
	admin := ann
	admin.Role = "admin"
	h.Must(db.Exec(ctx, h.DB, admin, func(tx *db.Tx) error {
		_, _, err := saveAccount(tx, BankAccount{Name: "Rent", IBAN: new("DE89 3704 0044 0532 0130 00"), Holder: new("Helen Moreau"), Collects: true}, func(string) bool { return true })
		return err
	}))
}

// mt940 writes a statement: opening, lines as "2026-11-09 +245.00 payer|account|text", closing.
func mt940(opening, closing string, lines ...string) []byte {
	signed := func(s string) string {
		if rest, ok := strings.CutPrefix(s, "-"); ok {
			return "D" + "261101EUR" + strings.ReplaceAll(rest, ".", ",")
		}
		return "C" + "261101EUR" + strings.ReplaceAll(s, ".", ",")
	}
	var b strings.Builder
	fmt.Fprintf(&b, ":20:X\n:25:%s\n:60F:%s\n", iban, signed(opening))
	for _, l := range lines {
		f := strings.SplitN(l, " ", 3)
		sign := "C"
		if f[1][0] == '-' {
			sign = "D"
		}
		fmt.Fprintf(&b, ":61:%s%s%sNTRFNONREF\n", strings.ReplaceAll(f[0], "-", "")[2:], sign, strings.ReplaceAll(f[1][1:], ".", ","))
		if len(f) > 2 {
			part := strings.Split(f[2]+"||", "|")
			fmt.Fprintf(&b, ":86:166?20%s?31%s?32%s\n", part[2], part[1], part[0])
		}
	}
	fmt.Fprintf(&b, ":62F:%s\n-\n", strings.ReplaceAll(signed(closing), "261101", "261130"))
	return []byte(b.String())
}

// let makes a unit, a tenant and their lease.
func (h *fixture) let(unit, tenant, start string, rent int) int64 {
	h.T.Helper()
	h.Must(h.row("properties", "name=House"))
	h.Must(h.row("units", "property=House", "name="+unit))
	_ = h.row("tenants", "name="+tenant)
	return h.lease("unit="+unit, "tenant="+tenant, "start_date="+start, fmt.Sprintf("rent_cents=%d", rent))
}

func (h *fixture) imports(data []byte, take ...int64) ImportedStatement {
	h.T.Helper()
	done := assert.Value(h.importBankFile(ann, BankFile{File: schema.File{Name: "a.sta", Data: data}, Take: take}))(h.T)
	assert.Must(h.T, len(done.Statements) == 1, "%s", asJSON(h.T, done))
	return done.Statements[0]
}

// matches lists the free lines, as "amount match act lease,lease [payments]".
func (h *fixture) matches() (all []string) {
	h.T.Helper()
	list := assert.Value(h.BankLines(ctx, viewer, LineFilter{State: lineFree}))(h.T)
	slices.Reverse(list.Lines)
	for _, l := range list.Lines {
		text := fmt.Sprintf("%d %s %s", l.AmountCents, set(l.Match), set(l.Act))
		for _, c := range l.Candidates {
			if c.LeaseID != nil {
				text += fmt.Sprintf(" %d", *c.LeaseID)
			}
			if len(c.PaymentIDs) > 0 {
				text += fmt.Sprint(c.PaymentIDs)
			}
			assert.That(h.T, len(c.Evidence) != 0, "line %d: nothing speaks for %v", l.ID, c)
		}
		all = append(all, text)
	}
	return all
}

// TestReferences computes the contract's references by hand: 98 - (21000004271500 mod 97) = 10.
func TestReferences(t *testing.T) {
	for id, want := range map[int64]string{4: "RF10L000004", 12: "RF85L000012", 17: "RF47L000017", 23: "RF79L000023"} {
		got := PaymentReference(id)
		assert.That(t, got == want && mod97(got[4:]+got[:4]) == 1, "%d: %s", id, got)
	}
	for _, c := range []struct {
		text string
		want []int64
	}{
		{"rf10 l000 004", []int64{4}}, {"Rent RF47L000017 11 2026", []int64{17}}, {"RF47L00001712", []int64{17}}, {"RF11L000004", nil},
		{"RF10L000004RF85L000012", []int64{4, 12}}, {"RF10L00004", nil}, {"", nil}, {PaymentReference(1234567) + "89", []int64{1234567}},
	} {
		assert.EqualSlices(t, referencesIn(c.text), c.want, "%q", c.text)
	}
}

// TestPaymentCode is the contract's example, and texts that a code cannot hold.
func TestPaymentCode(t *testing.T) {
	a := BankAccount{IBAN: new(iban), Holder: new("Helen Moreau"), Currency: "EUR"}
	want := "BCD\n002\n1\nSCT\n\nHelen Moreau\nDE89370400440532013000\nEUR1250.00\n\nRF10L000004"
	got := paymentCode(a, 125_000, PaymentReference(4))
	assert.That(t, got == want && len(got) == 74, "%d bytes: %q", len(got), got)
	long := a
	long.Holder = new(strings.Repeat("ü", 300))
	if got := strings.Split(paymentCode(long, 1, "RF10L000004"), "\n"); got[5] != strings.Repeat("ü", 70) || got[7] != "EUR0.01" {
		t.Errorf("%q", got)
	}
	dollars, nobody := a, a
	dollars.Currency, nobody.Holder = "USD", nil
	if paymentCode(dollars, 1, "") != "" || paymentCode(nobody, 1, "") != "" || paymentCode(a, 0, "") != "" || paymentCode(a, maxCode+1, "") != "" || paymentCode(a, maxCode, "") == "" {
		t.Error("a code where none can be, or none where one can")
	}
}

// TestNamesAreTheSame: order, case, accents and umlauts do not count.
func TestNamesAreTheSame(t *testing.T) {
	for _, c := range []struct {
		payer, name string
		want        bool
	}{
		{"BRANDT ADA", "Ada Brandt", true}, {"Mueller, Juergen", "Jürgen Müller", true}, {"MULLER JURGEN", "Jürgen Müller", true}, {"Elodie Noel", "Élodie Noël", true},
		{"Ada Brand", "Ada Brandt", false}, {"A. Brandt", "Ada Brandt", false}, {"Strasse", "Straße", true}, {"", "", false}, {"Anna u. Tom Weiss", "Tom Weiss", true},
	} {
		assert.Equal(t, hasName(wordsOf(c.payer), wordsOf(c.name)), c.want, "%q is %q", c.payer, c.name)
	}
}

// TestStatementsAreReadOnce is the contract's second example: equal lines, an overlapping file, and a wrong sum.
func TestStatementsAreReadOnce(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	first := mt940("1000.00", "1435.00", "2026-11-09 +245.00", "2026-11-09 +245.00", "2026-11-10 -55.00")
	s := h.imports(first)
	assert.That(t, s.New == 3 && s.Same == 0 && s.State == "balanced" && *s.KeptCents == 143_500, "%s", asJSON(t, s))
	s = h.imports(first)
	assert.That(t, s.New == 0 && s.Same == 3, "twice: %s", asJSON(t, s))
	second := []string{"2026-11-09 +245.00", "2026-11-09 +245.00", "2026-11-09 +245.00", "2026-11-10 -55.00", "2026-11-11 +950.00"}
	_, err := h.importBankFile(ann, BankFile{File: schema.File{Name: "b.sta", Data: mt940("1000.00", "2630.10", second...)}})
	h.Refused(err, fault.Invalid, "10 is missing")
	s = h.imports(mt940("1000.00", "2630.00", second...))
	assert.That(t, s.New == 2 && s.Same == 3 && *s.KeptCents == 263_000 && *s.MissingCents == 0, "%s", asJSON(t, s))
	list := assert.Value(h.BankLines(ctx, viewer, LineFilter{Cursor: schema.First(2)}))(h.T)
	assert.That(t, list.Total == 5 && len(list.Lines) == 2 && list.Next != nil && list.Lines[0].AmountCents == 95_000,
		"%s", asJSON(t, list))
	rest, err := h.BankLines(ctx, viewer, LineFilter{Cursor: schema.Cursor[int64]{Limit: 9, After: *list.Next}})
	h.Must(err)
	assert.That(t, len(rest.Lines) == 3 && rest.Next == nil, "%s", asJSON(t, rest))
	// A line in other words is ignored until a person says that it is another one.
	again := mt940("1000.00", "1245.00", "2026-11-11 +950.00 XY|DE1|other words", "2026-11-12 -705.00")
	s = h.imports(again)
	assert.That(t, s.New == 1 && slices.Equal(s.Similar, []int64{1}), "%s", asJSON(t, s))
	s = h.imports(again, 1)
	assert.That(t, s.New == 1 && s.Same == 1 && len(s.Similar) == 0, "%s", asJSON(t, s))
	unknown := strings.ReplaceAll(string(first), iban, "DE02120300000000202051")
	_, err = h.importBankFile(ann, BankFile{File: schema.File{Name: "c.sta", Data: []byte(unknown)}})
	h.Refused(err, fault.Invalid, "DE02120300000000202051")
	_, err = h.importBankFile(ann, BankFile{File: schema.File{Name: "c.sta", Data: append([]byte(unknown), first...)}})
	h.Must(err)
	_, err = h.importBankFile(viewer, BankFile{File: schema.File{Name: "c.sta", Data: first}})
	h.Refused(err, fault.Forbidden, "")
	_, err = h.importBankFile(ann, BankFile{File: schema.File{Name: "c.csv", Data: []byte("a,b\n")}})
	h.Refused(err, fault.Invalid, "account")
	h.sound()
}

// TestFilesAreReadTogether: all files of a call or none, and the wrong one is named.
func TestFilesAreReadTogether(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	file := func(name string, data []byte) schema.File { return schema.File{Name: name, Data: data} }
	one, two := file("a.sta", mt940("0.00", "245.00", "2026-11-09 +245.00")), file("b.sta", mt940("245.00", "495.00", "2026-11-10 +250.00"))
	_, err := h.importFiles(ctx, ann, BankFile{}, []schema.File{one, file("wrong.sta", mt940("0.00", "1.00", "2026-11-09 +2.00"))})
	h.Refused(err, fault.Invalid, "wrong.sta: ")
	assert.Equal(t, h.Number("SELECT count(*) FROM bank_lines"), 0, "lines are kept of a call that was refused")
	_, err = h.importFiles(ctx, ann, BankFile{Take: []int64{1}}, []schema.File{one, two})
	h.Refused(err, fault.Invalid, "one file")
	done := assert.Value(h.importFiles(ctx, ann, BankFile{}, []schema.File{one, two, one}))(h.T)
	if len(done.Statements) != 3 || done.Statements[0].New+done.Statements[1].New != 2 || done.Statements[2].Same != 1 {
		t.Errorf("%s", asJSON(t, done))
	}
	h.sound()
}

// TestATenantsLinesAreForgotten: after it no line names the payer, and importing the file again restores nothing.
func TestATenantsLinesAreForgotten(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	id := h.let("1Z", "Martha Quill", "2026-10-01", 125_000)
	file := mt940("0.00", "1250.00", "2026-11-02 +1250.00 Martha Quill|DE77QUILL|my rent, Martha Quill")
	h.imports(file)
	must(h, ann, bookLines, Bookings{Certain: true})
	must2(h, ann, endEarly, id, day(t, "2026-11-10"))
	must(h, ann, forgetTenant, h.Number("SELECT id FROM tenants WHERE name = 'Martha Quill'"))
	assert.Equal(t, h.Number("SELECT count(*) FROM bank_lines WHERE payer_name || payer_account || text <> ''"), 0,
		"lines still tell")
	s := h.imports(file)
	assert.That(t, s.Same == 1 && s.New == 0, "%s", asJSON(t, s))
	h.sound()
}

// camt writes a statement (053) or a notice (054) of one booking over 1,445.00 with the bank reference E1; a notice has
// its two parts.
func camt(kind string) []byte {
	party := func(name, iban, cents, reference string) string {
		return `<TxDtls><Refs><AcctSvcrRef>` + reference + `</AcctSvcrRef></Refs><AmtDtls><TxAmt><Amt Ccy="EUR">` + cents + `</Amt></TxAmt></AmtDtls>` +
			`<RltdPties><Dbtr><Nm>` + name + `</Nm></Dbtr><DbtrAcct><Id><IBAN>` + iban + `</IBAN></Id></DbtrAcct></RltdPties></TxDtls>`
	}
	entry := func(parts string) string {
		return `<Ntry><Amt Ccy="EUR">1445.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-09</Dt></BookgDt><AcctSvcrRef>E1</AcctSvcrRef>` + parts + `</Ntry>`
	}
	balance := func(code, cents, day string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + code + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + cents + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>` + day + `</Dt></Dt></Bal>`
	}
	account := `<Acct><Id><IBAN>` + iban + `</IBAN></Id><Ccy>EUR</Ccy></Acct>`
	if kind == "054" {
		return []byte(`<Document><BkToCstmrDbtCdtNtfctn><Ntfctn>` + account + entry(`<NtryDtls>`+party("Ada Brandt", "DE02120300000000202051", "950.00", "T1")+
			party("Tom Berg", "DE02500105170137075030", "495.00", "T2")+`</NtryDtls>`) + `</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`)
	}
	return []byte(`<Document><BkToCstmrStmt><Stmt>` + account + balance("OPBD", "100.00", "2026-11-08") + balance("CLBD", "1545.00", "2026-11-09") + entry("") +
		`</Stmt></BkToCstmrStmt></Document>`)
}

// TestANoticeAndItsStatementAreJoined reads a collective booking twice, as notice and statement, in either order and
// with a part booked between. There is one line of two parts, and the balance is the bank's.
func TestANoticeAndItsStatementAreJoined(t *testing.T) {
	for _, order := range [][]string{{"053", "054"}, {"054", "053"}} {
		h := open(t, "2026-11-22")
		h.bank()
		h.let("1Z", "Ada Brandt", "2026-11-01", 95_000)
		first := h.imports(camt(order[0]))
		if order[0] == "054" {
			assert.That(t, first.New == 2 && first.Same == 0 && first.State == "unchecked", "%v: %s", order, asJSON(t, first))
			must(h, ann, bookLines, Bookings{Certain: true})
			h.sound()
		}
		if s := h.imports(camt(order[1])); s.New+s.Same != s.Lines || len(s.Similar) != 0 || order[1] == "053" && (s.Same != 1 || *s.KeptCents != 154_500) {
			t.Errorf("%v: %s", order, asJSON(t, s))
		}
		for range 2 { // a second time adds nothing
			for _, kind := range order {
				s := h.imports(camt(kind))
				assert.That(t, s.New == 0 && s.Same == s.Lines, "%v, %s again: %s", order, kind, asJSON(t, s))
			}
		}
		var told []string
		list := assert.Value(h.BankLines(ctx, viewer, LineFilter{}))(h.T)
		for _, l := range list.Lines {
			told = append(told, fmt.Sprintf("%d %s %v", l.AmountCents, l.State, l.ParentID != nil))
		}
		slices.Sort(told)
		want := []string{"144500 split false", "49500 free true", "95000 free true"}
		if order[0] == "054" {
			want[2] = "95000 booked true"
		}
		assert.EqualSlices(t, told, want, "%v", order)
		h.sound()
	}
}

// importBankFile imports one file.
func (h *fixture) importBankFile(who db.Caller, f BankFile) (BankImport, error) {
	return h.importFiles(ctx, who, f, []schema.File{f.File})
}
