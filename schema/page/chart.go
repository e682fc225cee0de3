package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"rsc.io/qr"
)

// Point is one value of a chart.
type Point struct {
	Label string // "23 Sep"
	Value int64  // any unit, one for all values of the chart: cents, thousandths
}

// Chart is bars, a line, or both over the same labels, with its numbers as a table.
type Chart struct {
	Title  string // says its point: "Sales by day and stock: it runs out on 27 November"
	Bars   []Point
	Line   []Point            // over the same places as Bars, or alone
	Ahead  []Point            // goes on from Line, dashed
	Limit  *Point             // a level, with its name
	Label  string             // the table's first column, "Day"
	Names  [2]string          // what bars and line are, "Sold" and "Stock"
	Plain  func(int64) string // a value as REST has it; nil is the number
	Show   func(int64) string // a value as people read it; nil is Plain
	Tables bool               // the numbers stand open, not folded
}

const (
	chartLeft, chartRight = 8, 672
	chartTop, chartFoot   = 24, 172
)

// ChartOf draws a chart as SVG.
func ChartOf(c Chart) templ.Component {
	return made(func(*Frame) string {
		if len(c.Bars)+len(c.Line) == 0 {
			return ""
		}
		var b strings.Builder
		b.WriteString(`<figure class="sheet pad"><figcaption>` + esc(c.Title) + `</figcaption><svg class="chart" viewBox="0 0 680 200" role="img" aria-label="` + esc(c.Title) + `">`)
		b.WriteString(`<title>` + esc(c.Title) + `</title>`)
		c.draw(&b)
		b.WriteString(`</svg>`)
		c.table(&b)
		b.WriteString(`</figure>`)
		return b.String()
	})
}

// scale returns the place of a value between the chart's least and largest.
func (c Chart) scale() func(v int64) int64 {
	var low, high int64
	all := slices.Concat(c.Bars, c.Line, c.Ahead)
	if c.Limit != nil {
		all = append(all, *c.Limit)
	}
	if len(c.Bars) == 0 && len(c.Line) > 0 {
		low = c.Line[0].Value // a meter's line need not begin at zero
	}
	for _, p := range all {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	span := high - low
	if span <= 0 {
		span = 1
	}
	return func(v int64) int64 {
		part := v - low
		if span > 1<<40 { // keeps the product within int64
			return chartFoot - (part>>20)*(chartFoot-chartTop)/(span>>20)
		}
		return chartFoot - part*(chartFoot-chartTop)/span
	}
}

func (c Chart) draw(b *strings.Builder) {
	y := c.scale()
	n := max(len(c.Bars), len(c.Line)+len(c.Ahead), 1)
	x := func(i int) int64 { return int64(chartLeft + (2*i+1)*(chartRight-chartLeft)/(2*n)) }
	text := func(v int64) string { return strconv.FormatInt(v, 10) }
	b.WriteString(`<path class="axis" d="M` + text(chartLeft) + ` ` + text(chartFoot) + `H` + text(chartRight) + `M` + text(chartLeft) + ` ` + text(chartTop) + `H` + text(chartRight) + `"/>`)
	if most := c.most(); most > 0 {
		_, show := c.words()
		b.WriteString(`<text x="` + text(chartLeft) + `" y="` + text(chartTop-4) + `">` + esc(show(most)) + `</text>`)
	}
	width := max(1, (chartRight-chartLeft)*7/(10*n))
	for i, p := range c.Bars {
		top := min(y(p.Value), y(0))
		b.WriteString(`<rect class="bar" x="` + text(x(i)-int64(width)/2) + `" y="` + text(top) + `" width="` + text(int64(width)) + `" height="` + text(max(y(0), y(p.Value))-top) + `"/>`)
	}
	if c.Limit != nil {
		at := y(c.Limit.Value)
		b.WriteString(`<path class="limit" d="M` + text(chartLeft) + ` ` + text(at) + `H` + text(chartRight) + `"/><text text-anchor="end" x="` + text(chartRight) + `" y="` + text(at-4) + `">` + esc(c.Limit.Label) + `</text>`)
	}
	line := func(class string, points []Point, from int) {
		if len(points) == 0 {
			return
		}
		b.WriteString(`<polyline class="` + class + `" points="`)
		for i, p := range points {
			b.WriteString(text(x(from+i)) + `,` + text(y(p.Value)) + ` `)
		}
		b.WriteString(`"/>`)
	}
	line("line", c.Line, 0)
	if len(c.Ahead) > 0 && len(c.Line) > 0 {
		line("line ahead", append([]Point{c.Line[len(c.Line)-1]}, c.Ahead...), len(c.Line)-1)
	}
	c.labels(b, x, n)
}

// most is the largest value, where the upper line of the chart stands.
func (c Chart) most() (high int64) {
	for _, p := range slices.Concat(c.Bars, c.Line, c.Ahead) {
		high = max(high, p.Value)
	}
	if c.Limit != nil && c.Limit.Value >= high {
		return 0 // the limit stands there, with its own name
	}
	return high
}

// labels writes some of the labels below the axis: the ends, and what fits between.
func (c Chart) labels(b *strings.Builder, x func(int) int64, n int) {
	points := c.points()
	step := max(1, (n+6)/7)
	for i, n := 0, len(points); i < len(points); i += step {
		anchor, class := "middle", ""
		if i/step%2 == 1 {
			class = ` class="odd"` // left out where there is little room
		}
		switch {
		case i == 0 && n > 1:
			anchor = "start"
		case i+step >= len(points) && i == len(points)-1 && n > 1:
			anchor = "end"
		}
		b.WriteString(`<text` + class + ` text-anchor="` + anchor + `" x="` + strconv.FormatInt(x(i), 10) + `" y="190">` + esc(points[i].Label) + `</text>`)
	}
}

// points are the chart's places with their labels.
func (c Chart) points() []Point {
	if len(c.Bars) >= len(c.Line)+len(c.Ahead) {
		return c.Bars
	}
	return slices.Concat(c.Line, c.Ahead)
}

// words are how a value is written, for REST's readers and for people.
func (c Chart) words() (plain, show func(int64) string) {
	plain, show = c.Plain, c.Show
	if plain == nil {
		plain = func(v int64) string { return strconv.FormatInt(v, 10) }
	}
	if show == nil {
		show = plain
	}
	return plain, show
}

// table writes the numbers beside the picture.
func (c Chart) table(b *strings.Builder) {
	plain, show := c.words()
	open := ""
	if c.Tables {
		open = " open"
	}
	b.WriteString(`<details` + open + `><summary>The numbers</summary><table aria-label="` + esc(c.Title) + `"><thead><tr><th scope="col">` + esc(c.Label) + `</th>`)
	for i, points := range [][]Point{c.Bars, slices.Concat(c.Line, c.Ahead)} {
		if len(points) > 0 {
			b.WriteString(`<th scope="col" class="r">` + esc(c.Names[i]) + `</th>`)
		}
	}
	b.WriteString(`</tr></thead><tbody>`)
	for i, p := range c.points() {
		b.WriteString(`<tr><td>` + esc(p.Label) + `</td>`)
		for _, points := range [][]Point{c.Bars, slices.Concat(c.Line, c.Ahead)} {
			switch {
			case len(points) == 0:
			case i < len(points):
				b.WriteString(`<td class="r">` + data(plain(points[i].Value), show(points[i].Value)) + `</td>`)
			default:
				b.WriteString(`<td></td>`)
			}
		}
		b.WriteString(`</tr>`)
	}
	b.WriteString(`</tbody></table></details>`)
}

// QR draws a text as a QR code; label says what it leads to.
func QR(content, label string) templ.Component {
	return made(func(*Frame) string {
		code, err := qr.Encode(content, qr.M)
		if err != nil {
			return ""
		}
		n := strconv.Itoa(code.Size + 8) // four light modules around it
		var b strings.Builder
		b.WriteString(`<svg class="qr" viewBox="0 0 ` + n + ` ` + n + `" role="img" aria-label="` + esc(label) + `" shape-rendering="crispEdges"><path class="light" d="M0 0h` + n + `v` + n + `H0z"/><path d="`)
		for y := range code.Size {
			for x := 0; x < code.Size; x++ {
				run := 0
				for x+run < code.Size && code.Black(x+run, y) {
					run++
				}
				if run > 0 {
					b.WriteString("M" + strconv.Itoa(x+4) + " " + strconv.Itoa(y+4) + "h" + strconv.Itoa(run) + "v1h-" + strconv.Itoa(run) + "z")
					x += run
				}
			}
		}
		b.WriteString(`"/></svg>`)
		return b.String()
	})
}
