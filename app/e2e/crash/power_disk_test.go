package crash

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"quartermaster/schema/assert"
)

// sector is the smallest unit that a disk writes whole.
const sector = 512

// change is one write to a file, or a change of its size.
type change struct {
	data []byte
	at   int64
	cut  bool // the file's size becomes at
	done bool // the call has returned
}

// node is a file's content: what is safely on the disk, and the writes since the last sync.
type node struct {
	synced  []byte
	pending []*change
}

// naming is a change of a folder that is not synced yet: node gets the name, or the name is removed.
type naming struct {
	names map[string]*node // all names, after it
}

// disk is the known state of a folder's files while a recording is played.
type disk struct {
	names   map[string]*node // as the process sees them
	synced  map[string]*node // as they are after a power cut
	namings []naming
}

func newDisk(files map[string][]byte) *disk {
	d := &disk{names: map[string]*node{}, synced: map[string]*node{}}
	for name, content := range files {
		d.names[name] = &node{synced: content}
	}
	d.synced = maps.Clone(d.names)
	return d
}

func (d *disk) renamed() { d.namings = append(d.namings, naming{maps.Clone(d.names)}) }

// create names a new file, unless it exists.
func (d *disk) create(name string) {
	if d.names[name] == nil {
		d.names[name] = &node{}
		d.renamed()
	}
}

func (d *disk) remove(name string) {
	delete(d.names, name)
	d.renamed()
}

func (d *disk) rename(from, to string) {
	d.names[to] = d.names[from]
	d.remove(from)
}

// sync makes the changes safe that returned before it began.
func (n *node) sync(before []*change) {
	safe := map[*change]bool{}
	for _, c := range before {
		safe[c] = true
	}
	left := n.pending[:0:0]
	for _, c := range n.pending {
		if safe[c] {
			n.synced = c.apply(n.synced)
		} else {
			left = append(left, c)
		}
	}
	n.pending = left
}

// returned are the pending changes whose calls have returned.
func (n *node) returned() (all []*change) {
	for _, c := range n.pending {
		if c.done {
			all = append(all, c)
		}
	}
	return all
}

func (d *disk) syncNames() {
	d.synced, d.namings = maps.Clone(d.names), nil
}

// apply returns the content after the change. It may change its argument.
func (c *change) apply(content []byte) []byte {
	if c.cut {
		if int64(len(content)) > c.at {
			return content[:c.at]
		}
		return append(content, make([]byte, c.at-int64(len(content)))...)
	}
	if need := c.at + int64(len(c.data)); int64(len(content)) < need {
		content = append(content, make([]byte, need-int64(len(content)))...)
	}
	copy(content[c.at:], c.data)
	return content
}

// torn splits a write at the sector boundaries.
func (c *change) torn() (all []*change) {
	if c.cut {
		return []*change{c}
	}
	for from := int64(0); from < int64(len(c.data)); {
		to := min(int64(len(c.data)), (c.at+from)/sector*sector+sector-c.at)
		all = append(all, &change{data: c.data[from:to], at: c.at + from})
		from = to
	}
	return all
}

// survives returns the file as a power cut may leave it: the synced content, and of the rest nothing, all, the first
// writes with the last one torn, any of them in any order, or any of their sectors in any order.
func (n *node) survives(random *rand.Rand) []byte {
	content := append([]byte(nil), n.synced...)
	rest := n.pending
	switch random.IntN(5) {
	case 0:
		rest = nil
	case 1:
	case 2:
		if len(rest) > 0 {
			k := random.IntN(len(rest))
			last := rest[k].torn()
			rest = append(append([]*change(nil), rest[:k]...), some(random, last)...)
		}
	case 3:
		rest = some(random, rest)
	case 4:
		var sectors []*change
		for _, c := range rest {
			sectors = append(sectors, c.torn()...)
		}
		rest = some(random, sectors)
	}
	for _, c := range rest {
		content = c.apply(content)
	}
	return content
}

// some picks any of the changes in any order.
func some(random *rand.Rand, all []*change) (picked []*change) {
	share := random.Float64()
	for _, c := range all {
		if random.Float64() < share {
			picked = append(picked, c)
		}
	}
	random.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked
}

// cutPower writes the files into dir as a power cut at this moment may leave them.
func (d *disk) cutPower(t testing.TB, random *rand.Rand, dir string) {
	t.Helper()
	names := d.synced
	if k := random.IntN(len(d.namings) + 1); k > 0 {
		names = d.namings[k-1].names
	}
	for name, n := range names {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), n.survives(random), 0o600))
	}
}
