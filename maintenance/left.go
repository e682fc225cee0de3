package maintenance

import "strconv"

// Left are the work orders that were refused: they stay marked.
func (m Moved) Left() []string {
	ids := make([]string, len(m.Refused))
	for i, r := range m.Refused {
		ids[i] = strconv.FormatInt(r.ID, 10)
	}
	return ids
}
