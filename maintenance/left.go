package maintenance

import "strconv"

// Left are the refused work orders: they stay marked.
func (m Moved) Left() []string {
	ids := make([]string, len(m.Refused))
	for i, r := range m.Refused {
		ids[i] = strconv.FormatInt(r.ID, 10)
	}
	return ids
}

// Left are the refused plans: they stay marked.
func (o Opened) Left() []string {
	ids := make([]string, len(o.Refused))
	for i, r := range o.Refused {
		ids[i] = strconv.FormatInt(r.PMID, 10)
	}
	return ids
}

// Left are the refused work orders: they stay marked.
func (e Edited) Left() []string { return Moved{Refused: e.Refused}.Left() }
