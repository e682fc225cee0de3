package maintenance

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

func TestAssetStatus(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	answer, err := s.command(s.setAssetStatus(), cli, "id=1", "status= Needs_Attention ")
	s.Must(err)
	a := answer.(Asset)
	assert.That(t, a.Status == "needs-attention" && len(a.Meters) == 1, "%s", asJSON(t, a))
	entries := len(s.audit())
	_, err = do2(s, cli, setAssetStatus, 1, "needs-attention")
	s.Must(err)
	assert.That(t, len(s.audit()) == entries, "the same status again was audited")
	s.untouched(fault.Invalid, "operational, needs-attention, down, retired", func() error { _, err := s.command(s.setAssetStatus(), cli, "id=1", "status=broken"); return err })
	s.untouched(fault.NotFound, "asset 5", func() error { _, err := do2(s, cli, setAssetStatus, 5, "down"); return err })
}
