package table

import (
	"archive/zip"
	"bytes"
	"runtime"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// TestWorkbooksHaveBounds: a small workbook that needs much memory or time is refused early: millions of empty texts or
// rows, thousands of parts, and an empty archive.
func TestWorkbooksHaveBounds(t *testing.T) {
	whole := func(texts, sheet string) []byte {
		return packed(t, map[string][]byte{
			"xl/workbook.xml": []byte(wholeBook), "xl/_rels/workbook.xml.rels": []byte(wholeLinks),
			"xl/sharedStrings.xml": []byte(texts), "xl/worksheets/sheet1.xml": []byte(sheet),
		})
	}
	var parts bytes.Buffer
	z := zip.NewWriter(&parts)
	for range maxEntries + 1 {
		_, _ = z.CreateRaw(&zip.FileHeader{Name: "x"})
	}
	_ = z.Close()
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty texts": {whole("<sst>"+strings.Repeat("<si/>", 12_000_000)+"</sst>", wholeHead+wholeTail), "more than 1000000 texts"},
		"empty rows":  {whole(wholeTexts, wholeHead+strings.Repeat("<row/>", 2*maxRows)+wholeTail), "more than 1048576 rows"},
		"parts":       {parts.Bytes(), "at most 10000 are accepted"},
		"nothing":     {packed(t, nil), "a ZIP archive, but not an XLSX workbook"},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := InMemory(c.file).open((&shelf{}).table(), Reading{}, testShop)
		for more := err == nil; more; {
			_, more, err = r.next()
		}
		runtime.ReadMemStats(&after)
		assert.That(t, fault.Is(err, fault.Invalid) && strings.Contains(err.Error(), c.want),
			"%s, %d bytes: %v, want %s", name, len(c.file), err, c.want)
		held := int64(after.HeapInuse) - int64(before.HeapInuse)
		assert.That(t, held <= 100<<20, "%s: %d MB are held", name, held>>20)
	}
}
