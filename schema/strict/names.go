// #nosec G115 -- a text of 4 GiB is never read, so that counts of its names fit; of a hash any bits do

package strict

import (
	"bytes"
	"hash/maphash"
)

// names holds the member names of the objects that are open, to find one name
// twice in one object. Few names are compared one by one; from manyNames on an
// object has a hash table, seeded so that nobody can choose names that collide.
type names struct {
	open    [][]byte // unescaped names of all open objects, outermost first
	text    []byte   // backing of those names that had escapes
	indexes []index  // by depth of the object, kept for the next at that depth
	seed    maphash.Seed
}

const manyNames = 16

// index is an open-addressing table over the names of one object; its length
// is a power of two and at most half of it is used.
type index []slot

type slot struct {
	hash uint32
	name uint32 // position in the object plus 1; 0 is a free slot
}

// add notes a name of the object at depth whose names begin at open[base]. It
// reports false if the object has the name already.
func (n *names) add(name []byte, base, depth int) bool {
	seen := n.open[base:]
	if len(seen) < manyNames {
		for _, s := range seen {
			if len(s) == len(name) && bytes.Equal(s, name) {
				return false
			}
		}
		n.open = append(n.open, name)
		return true
	}
	for len(n.indexes) <= depth {
		n.indexes = append(n.indexes, nil)
	}
	table := n.indexes[depth]
	if len(seen) == manyNames {
		if n.seed == (maphash.Seed{}) {
			n.seed = maphash.MakeSeed()
		}
		table = table.sized(4 * manyNames)
		for i, s := range seen {
			table.insert(slot{n.hash(s), uint32(i + 1)})
		}
	} else if 2*len(seen) >= len(table) {
		old := table
		if cap(old) < 2*len(old) {
			table = make(index, 2*len(old))
		} else {
			old = append(index(nil), old...)
			table = table.sized(2 * len(old))
		}
		for _, s := range old {
			if s.name != 0 {
				table.insert(s)
			}
		}
	}
	n.indexes[depth] = table
	hash := n.hash(name)
	mask := uint32(len(table) - 1)
	for i := hash & mask; table[i].name != 0; i = (i + 1) & mask {
		if table[i].hash == hash && bytes.Equal(seen[table[i].name-1], name) {
			return false
		}
	}
	table.insert(slot{hash, uint32(len(seen) + 1)})
	n.open = append(n.open, name)
	return true
}

func (n *names) hash(name []byte) uint32 { return uint32(maphash.Bytes(n.seed, name)) }

// sized returns an empty table of the given length, in t's memory if that is
// large enough. Its cost is that of the length asked for, not of t's.
func (t index) sized(length int) index {
	if cap(t) < length {
		return make(index, length)
	}
	t = t[:length]
	clear(t)
	return t
}

func (t index) insert(s slot) {
	mask := uint32(len(t) - 1)
	i := s.hash & mask
	for t[i].name != 0 {
		i = (i + 1) & mask
	}
	t[i] = s
}
