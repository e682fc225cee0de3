package strict

import "bytes"

// names holds the member names of the open objects, to find a repeated name. Few names are compared one by one, which
// suffices for ordinary bodies; from manyNames on an object has a map.
type names struct {
	open [][]byte              // unescaped names of all open objects, outermost first
	text []byte                // backing of those names that had escapes
	many []map[string]struct{} // by depth of the object, reused at that depth
}

const manyNames = 16

// add adds a name of the object at depth whose names begin at open[base]. It reports false if the object has the name
// already.
func (n *names) add(name []byte, base, depth int) bool {
	seen := n.open[base:]
	n.open = append(n.open, name)
	if len(seen) < manyNames {
		for _, s := range seen {
			if len(s) == len(name) && bytes.Equal(s, name) {
				return false
			}
		}
		return true
	}
	for len(n.many) <= depth {
		n.many = append(n.many, map[string]struct{}{})
	}
	known := n.many[depth]
	if len(seen) == manyNames {
		// clearing a large one takes time in proportion to its size, for every small object that follows
		if len(known) > 8*manyNames {
			known = map[string]struct{}{}
			n.many[depth] = known
		}
		clear(known)
		for _, s := range seen {
			known[string(s)] = struct{}{}
		}
	}
	before := len(known)
	known[string(name)] = struct{}{}
	return len(known) > before
}
