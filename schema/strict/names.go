package strict

import "bytes"

// names holds the member names of the objects that are open, to find one name
// twice in one object. Few names are compared one by one, which is what every body
// that is meant well has; from manyNames on an object has a map.
type names struct {
	open [][]byte              // unescaped names of all open objects, outermost first
	text []byte                // backing of those names that had escapes
	many []map[string]struct{} // by depth of the object, kept for the next at that depth
}

const manyNames = 16

// add notes a name of the object at depth whose names begin at open[base]. It
// reports false if the object has the name already.
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
		if len(known) > 8*manyNames { // clearing a large one costs its size, for every small object that follows
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
