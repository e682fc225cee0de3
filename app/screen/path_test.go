package screen

import (
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/page"
)

// TestSamePathIsRefused: a service's page would hide the page of all services at its path.
func TestSamePathIsRefused(t *testing.T) {
	t.Parallel()
	s := &Screens{Options: Options{Service: schema.Service{Name: "rental"}}}
	s.pages = []page.Page{{Path: "/units", Title: "Units"}, {Path: "/keys", Title: "API keys"}}
	assert.NoError(t, s.samePath(), "two paths")
	s.pages = append(s.pages, page.Page{Path: "/keys", Title: "Keys"})
	err := s.samePath()
	assert.Must(t, err != nil && strings.Contains(err.Error(), `"API keys" and "Keys" have the same path /keys`), "%v", err)
}
