package rest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/rental"
	"quartermaster/schema/assert"
)

// bookOf is a workbook with one sheet of texts.
func bookOf(t *testing.T, rows [][]string) string {
	t.Helper()
	var sheet strings.Builder
	sheet.WriteString(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	for i, row := range rows {
		fmt.Fprintf(&sheet, `<row r="%d">`, i+1)
		for j, cell := range row {
			fmt.Fprintf(&sheet, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+j, i+1, html.EscapeString(cell))
		}
		sheet.WriteString(`</row>`)
	}
	sheet.WriteString(`</sheetData></worksheet>`)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="House" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", sheet.String()},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		assert.OK(t, err)
	}
	assert.OK(t, z.Close())
	return b.String()
}

// TestRentRollImportsOnThePage uploads a property on one sheet, as CSV and as a workbook. The preview says how
// many leases it makes and what they owe; writing it does exactly that.
func TestRentRollImportsOnThePage(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"Building", "Apartment", "Renter", "E-mail", "Monthly rent", "Lease start", "Balance"},
		{"Harbour House", "1A", "Ada Lindqvist", "ada@example.com", "900.00", "2021-05-01", "350.50"},
		{"Harbour House", "1B", "Ben Okafor", "ben@example.com", "925.00", "2023-01-01", "0.00"},
		{"Harbour House", "2A", "", "", "", "", ""},
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, ",")
	}
	for name, file := range map[string]string{"house.csv": strings.Join(lines, "\n") + "\n", "house.xlsx": bookOf(t, rows)} {
		l := apptest.NewRental(t)
		v := l.Person("rental", "ann", "admin")
		sent := v.Upload("/import/rent-roll", nil, "file", name, file)
		preview := apptest.StatusIs(t, v.Get(sent.Header.Get("Location")), http.StatusOK)
		if page := apptest.Text(preview.Doc); !strings.Contains(page, "This file would create 2 leases, which owe 350.50 USD in total today") {
			t.Fatalf("%s: %.3000s", name, page)
		}
		apptest.StatusIs(t, v.Post("/import/rent-roll", formAround(preview, "")...), http.StatusSeeOther)
		var list rental.LeaseList
		if err := json.Unmarshal([]byte(l.Rental("leases", "list", "--json")), &list); err != nil || len(list.Leases) != 2 || list.Leases[0].BalanceCents != 35_050 {
			t.Errorf("%s: %+v %v", name, list, err)
		}
		assert.Contains(t, apptest.Text(v.Get("/").Doc), "350.50 USD is due today", "%s: the first page", name)
		again := v.Upload("/import/rent-roll", nil, "file", "raised.csv", strings.Replace(strings.Join(lines, "\n"), "900.00",
			"910.00", 1))
		raised := apptest.Text(apptest.StatusIs(t, v.Get(again.Header.Get("Location")), http.StatusOK).Doc)
		assert.That(t, strings.Contains(raised, "2Rent") && !strings.Contains(raised, "rent_cents"),
			"%s: what changes is not called as in the sheet's preview: %.1500s", name, raised)
	}
}
