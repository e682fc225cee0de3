package bank

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// told writes statements as the tables below do: a line for each account, then one for each booking.
func told(all []Statement) string {
	var b strings.Builder
	balance := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	for _, s := range all {
		fmt.Fprintf(&b, "%s %s %s %s..%s\n", s.Kind, strings.Join(s.Numbers, "|"), s.Currency, balance(s.OpeningCents), balance(s.ClosingCents))
		for _, l := range s.Lines {
			fmt.Fprintf(&b, " %s %d [%s|%s|%s|%s|%s]", l.Day, l.AmountCents, l.PayerName, l.PayerAccount, l.Text, l.Reference, l.BankReference)
			if l.Returned {
				b.WriteString(" returned")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestFilesAreRead reads each file of testdata, in the formats of banks, and compares it with results worked out by
// hand.
func TestFilesAreRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.want")
	assert.Must(t, err == nil && len(files) >= 6, "%d files, %v", len(files), err)
	for _, name := range files {
		want := assert.Value(os.ReadFile(name))(t)
		data := assert.Value(os.ReadFile(strings.TrimSuffix(name, ".want")))(t)
		for how, content := range map[string][]byte{"as it is": data, "with CR LF": bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
			"with a byte order mark": append([]byte("\xef\xbb\xbf"), data...), "in Windows-1252": in1252(t, data), "in an archive": zipped(t, data)} {
			got, known, err := Read(content)
			assert.That(t, known && err == nil && told(got) == string(want),
				"%s %s: %v %v\n%s\nwant\n%s", name, how, known, err, told(got), want)
		}
	}
}

func in1252(t *testing.T, data []byte) []byte {
	t.Helper()
	out := assert.Value(charmap.Windows1252.NewEncoder().Bytes(data))(t)
	return out
}

func zipped(t *testing.T, contents ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, c := range contents {
		f, err := w.Create(fmt.Sprintf("statement%d", i))
		if err == nil {
			_, err = f.Write(c)
		}
		assert.OK(t, err)
	}
	assert.OK(t, w.Close())
	return b.Bytes()
}

// TestInvalidStatementsAreRefused tries damaged files and files of other kinds.
func TestInvalidStatementsAreRefused(t *testing.T) {
	line := func(s string) string {
		return ":20:X\n:25:1\n:60F:C260101EUR1,00\n:61:" + s + "\n:62F:C260101EUR1,00\n"
	}
	for _, c := range []struct {
		name, data, says string
		kind             fault.Kind
	}{
		{"a balance alone", ":60F:C100318EUR380115,12\n", "no statement", fault.Invalid},
		{"no account", ":20:X\n:61:2601010101C1,00NTRF\n", "before it", fault.Invalid},
		{"three decimals", line("2601010101C1,001NTRF"), "more decimals than EUR", fault.Invalid},
		{"two signs", line("2601010101C1,00,1NTRF"), "not an amount", fault.Invalid},
		{"no amount", line("2601010101CNTRF"), "line 4", fault.Invalid},
		{"a month that is none", line("2613010101C1,00NTRF"), "no valid day", fault.Invalid},
		{"a number too long", line("2601010101C99999999999999999999,00NTRF"), "too large", fault.Invalid},
		{"XML cut off", "<Document><BkToCstmrStmt><Stmt>", "cannot be read", fault.Invalid},
		{"an empty document", "<Document></Document>", "no statement", fault.Invalid},
		{"an entity of its own", `<!DOCTYPE d [<!ENTITY a "aaaa">]><Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>&a;</IBAN></Id></Acct></Stmt></BkToCstmrStmt></Document>`, "cannot be read", fault.Invalid},
		{"OFX without an account", "OFXHEADER:100\n<OFX><SIGNONMSGSRSV1></OFX>", "no statement", fault.Invalid},
		{"OFX with a day that is none", "<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM><STMTTRN><DTPOSTED>20261341<TRNAMT>1</STMTTRN></STMTRS></OFX>", "no valid day", fault.Invalid},
		{"too many", ":20:X\n:25:1\n" + strings.Repeat(":61:2601010101C1,00NTRF\n", MaxLines+1), "at most 20000", fault.TooLarge},
		{"too large", strings.Repeat(" ", MaxBytes+1), "bytes", fault.TooLarge},
	} {
		_, _, err := Read([]byte(c.data))
		assert.That(t, fault.Is(err, c.kind) && strings.Contains(err.Error(), c.says), "%s: %v", c.name, err)
	}
	if _, _, err := Read(zipped(t, bytes.Repeat([]byte(" "), MaxUnpacked), []byte("  "))); !fault.Is(err, fault.TooLarge) && err == nil {
		t.Errorf("an archive that unpacks to more: %v", err)
	}
	_, known, err := Read([]byte("day;amount\n2026-01-01;1,00\n"))
	assert.That(t, !known && err == nil, "a table is taken for a statement: %v", err)
	_, known, err = Read([]byte("<html><body>Sign in</body></html>"))
	assert.That(t, !known && err == nil, "a page is taken for a statement: %v", err)
}

// FuzzRead: any file is read or refused, and its bookings have dates and bounded amounts.
func FuzzRead(f *testing.F) {
	files := assert.Value(filepath.Glob("testdata/*"))(f)
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, ".want") {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := Read(data)
		if _, refused := fault.As(err); err != nil && !refused {
			t.Fatal(err)
		}
		for _, s := range all {
			for _, l := range s.Lines {
				assert.Must(t, l.AmountCents <= 1e15 && l.AmountCents >= -1e15 && l.Number >= 1 && l.Day.String() != "" &&
					!strings.ContainsAny(l.Text, "\n\r\x00"), "%+v", l)
			}
		}
	})
}
