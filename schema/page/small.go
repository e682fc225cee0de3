package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"rsc.io/qr"

	"quartermaster/schema/exact"
)

// Looks of parts. Warn, Late and Bad say that something is open, late or very late; the others only tell parts apart.
const (
	Late = "late" // between Warn and Bad
	Deep = "deep"
	Pale = "pale"
	Half = "half" // good, but not wholly
)

// Part is one part of a stacked bar or one square of a strip; Path links to its details.
type Part struct {
	Label, Path, Look string // Look is Good, Deep, Pale, Idle, Warn, Late or Bad
	Value             int64
	Shown             string    // the value for people
	Day               exact.Day // of a chart's event
	Here              bool      // the page shows it alone
}

// Stacked is one bar divided in proportion to the values, with its legend. Nothing if all are 0.
func Stacked(title string, parts ...Part) templ.Component {
	var whole int64
	for _, p := range parts {
		whole += max(0, p.Value)
	}
	if whole == 0 {
		return text("")
	}
	var b, legend strings.Builder
	b.WriteString(`<figure class="stack"><figcaption class="hear">` + esc(title) +
		`</figcaption><svg height="12" viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label="` +
		esc(title) + `">`)
	from := 0.0
	for _, p := range parts {
		wide := float64(max(0, p.Value)) / float64(whole) * plotWide
		words := esc(p.Label) + `: ` + esc(p.Shown)
		b.WriteString(`<rect class="` + p.Look + `" x="` + at(from) + `" y="-2" width="` + at(wide) +
			`" height="16"><title>` +
			words + `</title></rect>`)
		from += wide
		name := esc(p.Label)
		if p.Path != "" {
			here := ""
			if p.Here {
				here = ` aria-current="true"`
			}
			name = `<a href="` + esc(p.Path) + `"` + here + `>` + name + `</a>`
		}
		class := p.Look
		if p.Value == 0 {
			class += " zero"
		}
		legend.WriteString(`<li class="` + class + `">` + name + ` ` + data(num(p.Value), p.Shown) + `</li>`)
	}
	b.WriteString(`</svg><ul>` + legend.String() + `</ul></figure>`)
	return text(b.String())
}

// Spark is a small bar for each value, oldest first; none is below 0. The highest bar is the largest value, or least if that is more.
func Spark(label string, values []int64, least ...int64) templ.Component {
	most := slices.Max(append(append(least, 1), values...))
	var b strings.Builder
	b.WriteString(`<svg class="spark days" viewBox="0 0 ` + num(3*len(values)) + ` 20" role="img" aria-label="` + esc(label) +
		`"><title>` + esc(label) + `</title><path d="`)
	for i, v := range values {
		if v > 0 {
			b.WriteString(`M` + num(3*i+1) + ` 20v-` + num(max(1, 20*v/most)))
		}
	}
	b.WriteString(`"/></svg>`)
	return text(b.String())
}

// Squares are a row of squares, oldest first: one for each period, with its state's look.
func Squares(label string, parts []Part) templ.Component {
	wide := num(14 * len(parts))
	var b strings.Builder
	b.WriteString(`<svg class="squares" width="` + wide + `" height="14" viewBox="0 0 ` + wide +
		` 14" role="img" aria-label="` +
		esc(label) + `">`)
	for i, p := range parts {
		b.WriteString(`<rect class="` + p.Look + `" x="` + num(14*i+1) + `" y="1" width="12" height="12" rx="2"><title>` +
			esc(p.Label) + `</title></rect>`)
		if p.Look == Warn { // told by its shape too: half of it is empty
			b.WriteString(`<path d="M` + num(14*i+2) + ` 2h10v5h-10z"/>`)
		}
	}
	return text(b.String() + `</svg>`)
}

// CellBar is a value's share of the largest one, in a cell beside the value; a mark, if not 0, is a level for
// comparison, and the look is the state's that the level means, if any.
func CellBar(label string, value, mark, most int64, look string) templ.Component {
	if most <= 0 {
		return text("")
	}
	share := func(v int64) float64 { return float64(min(max(v, 0), most)) / float64(most) * 60 }
	s := `<svg class="spark" viewBox="0 0 60 16" role="img" aria-label="` + esc(label) + `"><title>` + esc(label) +
		`</title><rect class="track" y="5" height="7" width="60"/><rect class="` + look + `" y="5" height="7" width="` +
		at(share(value)) + `"/>`
	if mark > 0 {
		s += `<path class="limit" d="M` + at(share(mark)) + ` 0V5"/>`
	}
	return text(s + `</svg>`)
}

// CellParts are parts of the largest value in a cell, as wide as their share of it.
func CellParts(label string, most int64, parts ...Part) templ.Component {
	if most <= 0 {
		return text("")
	}
	s, from := `<svg class="spark squares" viewBox="0 0 120 16" role="img" aria-label="`+esc(label)+`"><title>`+
		esc(label)+`</title><rect class="track" y="5" height="7" width="120"/>`, 0.0 // the whole tells the scale
	for _, p := range parts {
		wide, gap := float64(p.Value)/float64(most)*120, 0.0
		if from > 0 {
			gap = min(2, wide/2)
		}
		s += `<rect class="` + p.Look + `" x="` + at(from+gap) + `" y="5" height="7" width="` + at(wide-gap) + `"/>`
		from += wide
	}
	return text(s + `</svg>`)
}

// QR draws a text as a QR code; label describes its target.
func QR(content, label string) templ.Component {
	return made(func(*Frame) string {
		code, err := qr.Encode(content, qr.M)
		if err != nil {
			return ""
		}
		n := strconv.Itoa(code.Size + 8) // four light modules around it
		var b strings.Builder
		b.WriteString(`<svg class="qr" viewBox="0 0 ` + n + ` ` + n + `" role="img" aria-label="` + esc(label) +
			`" shape-rendering="crispEdges"><path class="light" d="M0 0h` + n + `v` + n +
			`H0z"/><path fill="none" stroke="#000" d="`)
		for y := range code.Size {
			at := -1 // where the line of this row ended
			for x := 0; x < code.Size; x++ {
				run := 0
				for x+run < code.Size && code.Black(x+run, y) {
					run++
				}
				if run == 0 {
					continue
				}
				if at < 0 {
					b.WriteString("M" + strconv.Itoa(x+4) + " " + strconv.Itoa(y+4) + ".5")
				} else {
					b.WriteString("m" + strconv.Itoa(x-at) + " 0")
				}
				b.WriteString("h" + strconv.Itoa(run))
				x += run
				at = x
			}
		}
		b.WriteString(`"/></svg>`)
		return b.String()
	})
}

// keysOf counts the parts of each meaning (Shown), in the order in which they first stand.
func keysOf(parts []Part) (keys []Part) {
	for _, p := range parts {
		i := slices.IndexFunc(keys, func(k Part) bool { return k.Shown == p.Shown })
		if i < 0 {
			i = len(keys)
			keys = append(keys, Part{Shown: p.Shown, Look: p.Look})
		}
		keys[i].Value++
	}
	return keys
}
