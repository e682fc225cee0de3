package maintenance

import "strconv"

// orNil is how a text that may be unset is kept: nil for none.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNoID is how a reference that may be unset is kept: nil for 0.
func orNoID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// subject names a record in the audit trail: "work_order:12".
func subject(noun string, id int64) string { return noun + ":" + strconv.FormatInt(id, 10) }
