package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema/exact"
)

// Point is one value of a chart. With a day it is placed at its day, with a label next to the previous point.
type Point struct {
	Label string // "2026-09"; "": the day
	Day   exact.Day
	Value int64 // any unit, one for all values of the chart: cents, thousandths
}

// Chart is bars, lines, or both, with its numbers as a table. Days without a value are gaps.
type Chart struct {
	Title  string // states the result: "Sales by day and stock: it runs out on 27 November"
	Bars   []Point
	Line   []Point   // over the same places as Bars, or alone
	Ahead  []Point   // continues Line, dashed
	Limit  *Point    // a level, with its name
	From   exact.Day // an axis of days has at least those from From to To
	To     exact.Day
	Now    *Point             // a day with its name: "today 21"
	Marks  []Point            // vertical lines for the future
	Events []Part             // on a day, dots on the line or at the foot; squares of Bad, red strokes of "bad late"
	Kinds  [3]string          // what dots, squares and red strokes are, "Service", "Repair" and "Down"
	Past   bool               // Line is the time before: a paler bar before each of Bars, below them if they are many
	Back   exact.Day          // so many days before its place is a value of Line in a strip below
	Rest   string             // names what Line is above Bars, which are drawn over it: "Open" of what is billed
	Late   string             // names the part of Rest that is late: "Overdue"
	Until  exact.Day          // the day up to which the last bar goes, if more of it is to come: it is drawn paler
	Todo   int64              // the part of the last bar's Rest that is not late yet
	Low    bool               // it is half as high: an aside of its page
	Steps  bool               // Line holds each value until the next one
	Label  string             // the table's first column, "Day"
	Names  [2]string          // names of bars and line, "Sold" and "Stock"
	Plain  func(int64) string // a value as in REST; nil is the number
	Show   func(int64) string // a value for people; nil is Plain
	Whole  bool               // first months in which nothing was are drawn
	Tables bool               // the numbers are shown unfolded
}

// A chart is as wide as its container and so many pixels high. The plot is stretched (plotWide units), its words are
// not; the style sheet reserves space for those beside it.
const (
	plotWide           = 1000
	plotTop, plotFoot  = 22, 196
	lowFoot            = 148
	stripFoot          = 112 // of a low chart of pairs of bars
	lineFoot           = 92  // of a low line, which has few levels
	eventsFoot         = 84  // of a chart of events alone
	belowPlot          = 24
	mostTicks          = 5
	mostDots           = 40
	mostLines          = 5
	smallPart          = 4 // of a step
	mostMonths         = 13
	bandHigh           = 64 // pixels of a strip of bars below the line, with its name between
	bandGap            = 40
	mostPairs          = 24  // places; of more, the time before stands below
	twoStrips          = 204 // pixels of both strips, which have one scale
	betweenStrips      = 56  // for the days of the upper one and the name of the lower
	fewMonths          = 6
	linesBetweenLabels = 14 // pixels for two lines of words
	nearWords          = 180
	nearMarks          = 30 // of the plot's width: their lines can hardly be told apart
)

// drawing is a chart with the positions of its values.
type drawing struct {
	Chart
	f           *Frame
	b           strings.Builder
	from, to    exact.Day // of a chart by days; to is the day after the last
	n           int       // places of a chart by labels
	top, foot   int       // where the plot begins and ends
	base        int       // where the scale of its line begins: above a strip of bars
	low, step   int64
	high        int64
	plain, show func(int64) string
}

// ChartOf draws a chart as SVG; nothing without values or events. Events alone have an axis of days.
func ChartOf(c Chart) templ.Component {
	return made(func(f *Frame) string {
		if len(c.Bars)+len(c.Line)+len(c.Events) == 0 {
			return ""
		}
		d := &drawing{Chart: c, f: f, from: c.From, to: c.To, top: plotTop, foot: plotFoot}
		if len(c.Bars)+len(c.Line) == 0 {
			d.foot = eventsFoot
		}
		if d.Low {
			d.foot = lowFoot
			switch {
			case d.Past:
				d.foot = stripFoot
			case len(d.Line) > 0 && len(d.Bars) == 0:
				d.foot = lineFoot
			}
		}
		if d.Low && len(d.Marks) > 0 { // each has a line of words above the plot
			d.Marks = slices.SortedFunc(slices.Values(d.Marks), func(a, b Point) int { return cmp.Compare(a.Day, b.Day) })
			d.top += linesBetweenLabels * len(d.Marks)
			d.foot += linesBetweenLabels * len(d.Marks)
		}
		if d.base = d.foot; d.banded() {
			d.foot += bandHigh + bandGap
		}
		d.plain, d.show = c.words()
		d.trim()
		d.span()
		d.scale()
		if d.below() { // both strips have one scale
			low, high := ends(d.Line)
			high = -floorTo(-high, d.step)
			span := float64(d.high - d.low)
			d.base = d.top + int(twoStrips*span/(span+float64(high-low)))
			d.foot = d.top + twoStrips + betweenStrips
		}
		d.write(`<figure class="sheet pad"><figcaption>`, esc(c.Title), d.legend(),
			`</figcaption><svg class="chart" height="`, num(d.foot+belowPlot), `" role="img" aria-label="`, esc(c.Title), `">`)
		d.plot()
		d.texts()
		d.write(`</svg>`)
		d.Bars, d.Line = c.Bars, c.Line
		d.table()
		d.write(`</figure>`)
		return d.b.String()
	})
}

func (d *drawing) write(parts ...string) {
	for _, p := range parts {
		d.b.WriteString(p)
	}
}

func num[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// at is a position across the plot with one decimal.
func at(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func (c Chart) all() []Point { return slices.Concat(c.Bars, c.Line, c.Ahead) }

// trim drops the first months or weeks, in which nothing was, if there are others; the numbers keep them.
func (d *drawing) trim() {
	most := max(len(d.Bars), len(d.Line))
	first := most
	for _, points := range [][]Point{d.Bars, d.Line} {
		for i, p := range points {
			if p.Value != 0 || p.Day != 0 || !strings.ContainsAny(p.Label, " \u00a0") {
				first = min(first, i)
			}
		}
	}
	if first = min(first, most-fewMonths); first <= 0 || len(d.Ahead) > 0 || d.Whole {
		return
	}
	d.Bars, d.Line = d.Bars[min(first, len(d.Bars)):], d.Line[min(first, len(d.Line)):]
}

// span finds the days, or counts the places.
func (d *drawing) span() {
	d.n = max(len(d.Bars), len(d.Line)+len(d.Ahead), 1)
	seen := slices.Concat(d.all(), d.Marks)
	if d.Now != nil {
		seen = append(seen, *d.Now)
	}
	for _, p := range seen {
		if p.Day == 0 {
			continue
		}
		if d.from == 0 || p.Day < d.from {
			d.from = p.Day
		}
		d.to = max(d.to, p.Day+1)
	}
	for _, e := range d.Events {
		d.from, d.to = min(d.from, e.Day), max(d.to, e.Day+1)
	}
}

// x is the middle of a point's place, slot its width.
func (d *drawing) x(i int, p Point) float64 {
	if d.to > d.from {
		return (float64(p.Day-d.from) + .5) * d.slot()
	}
	return (float64(i) + .5) * d.slot()
}

func (d *drawing) slot() float64 {
	if d.to > d.from {
		return plotWide / float64(d.to-d.from)
	}
	return plotWide / float64(d.n)
}

// scale chooses round numbers for at most five lines above the lowest. A line alone need not begin at zero.
func (d *drawing) scale() {
	all := d.all()
	if d.banded() {
		all = slices.Concat(d.Line, d.Ahead)
	}
	if d.Limit != nil {
		all = append(all, *d.Limit)
	}
	if len(all) == 0 {
		d.high, d.step = 1, 1
		return
	}
	low, high := all[0].Value, all[0].Value
	for _, p := range all {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if len(d.Bars) > 0 || d.Steps || low > 0 && low < high/2 {
		low, high = min(low, 0), max(high, 0)
	}
	if low == high {
		low, high = min(low, 0), max(high, 1)
	}
	step, lines := int64(1), int64(mostLines)
	if d.Low || d.below() {
		lines -= 2
	}
	for i := 0; ; i++ {
		d.low, d.step = floorTo(low, step), step
		if d.high = -floorTo(-high, step); (d.high-d.low)/step <= lines {
			if low < 0 && low > -step/smallPart { // a small loss below many gains needs no line of its own
				d.low = -step / smallPart
			}
			return
		}
		if step *= 2; i%3 == 1 {
			step = step / 4 * 5
		}
	}
}

// banded says that bars have a scale of their own at the foot, as what is sold a day below the stock.
func (d *drawing) banded() bool { return d.Steps && len(d.Bars) > 0 && len(d.Line) > 0 }

func (d *drawing) y(v int64) float64 {
	return float64(d.base) - float64(v-d.low)/float64(d.high-d.low)*float64(d.base-d.top)
}

// plot draws the part that is stretched with the page.
func (d *drawing) plot() {
	d.write(`<svg class="plot" height="`, num(d.foot+belowPlot), `" viewBox="0 0 `, num(plotWide), ` `,
		num(d.foot+belowPlot),
		`" preserveAspectRatio="none">`)
	first := -floorTo(-d.low, d.step)
	for v := first; v <= d.high && (v == first || len(d.all()) > 0); v += d.step {
		d.write(`<path class="axis" d="M0 `, at(d.y(v)), `H1000"/>`)
	}
	if d.banded() {
		d.write(`<path class="axis" d="M0 `, num(d.foot-bandHigh), `H1000M0 `, num(d.foot), `H1000"/>`)
	}
	if d.below() {
		_, high := ends(d.Line)
		for v := int64(0); v < high+d.step; v += d.step {
			d.write(`<path class="axis" d="M0 `, at(d.pastY(v)), `H1000"/>`)
		}
	}
	switch {
	case d.Rest != "":
		d.bars("bar", d.Bars, -.35, .7)
		d.rest()
	case d.below():
		d.bars("bar past", d.Line, -.35, .7)
		d.bars("bar", d.Bars, -.35, .7)
	case d.Past:
		d.bars("bar past", d.Line, -.4, .4)
		d.bars("bar", d.Bars, 0, .4)
	default:
		d.bars("bar", d.Bars, -.35, .7)
		d.line("line", d.Line, 0, d.Steps)
	}
	if len(d.Ahead) > 0 && len(d.Line) > 0 {
		d.line("line ahead", append([]Point{d.Line[len(d.Line)-1]}, d.Ahead...), len(d.Line)-1, false)
	}
	if d.Limit != nil {
		d.write(`<path class="limit" d="M0 `, at(d.y(d.Limit.Value)), `H1000"/>`)
	}
	if d.Now != nil {
		d.write(`<path class="now" d="M`, at(d.x(0, *d.Now)), ` `, num(d.top), `V`, num(d.foot), `"/>`)
	}
	for i, m := range d.Marks {
		top, class := plotTop, "now ahead"
		if d.Low {
			top = d.top - (i+1)*linesBetweenLabels - 4 // beside its name
		}
		if d.Low && d.Now != nil && m.Day < d.Now.Day {
			class = "limit ahead"
		}
		d.write(`<path class="`, class, `" d="M`, at(d.x(0, m)), ` `, num(top), `V`, num(d.foot), `"><title>`,
			esc(m.Label), `</title></path>`)
	}
	d.events()
	d.write(`</svg>`)
}

// events draws the events on the line, or at the foot without one. Of those too near to be told apart the first is
// drawn, and names them all.
func (d *drawing) events() {
	slices.SortStableFunc(d.Events, func(a, b Part) int { return cmp.Compare(a.Day, b.Day) })
	for i := 0; i < len(d.Events); {
		e, x := d.Events[i], d.x(0, Point{Day: d.Events[i].Day})
		y := float64(d.foot)
		if n := slices.IndexFunc(d.Line, func(p Point) bool { return p.Day >= e.Day }); n > 0 {
			from, to := d.Line[n-1], d.Line[n]
			y = d.y(from.Value + (to.Value-from.Value)*int64(e.Day-from.Day)/int64(to.Day-from.Day))
		} else if n < 0 && len(d.Line) > 0 {
			y = d.y(d.Line[len(d.Line)-1].Value)
		}
		for i++; i < len(d.Events) && d.x(0, Point{Day: d.Events[i].Day})-x < nearMarks; i++ {
			e.Label += "; " + d.Events[i].Label
		}
		mark := "h0"
		if e.Look == Bad+" late" { // a stroke: told from a square by its shape
			mark = "m0-7v14"
		}
		d.write(`<path class="event `, e.Look, `" d="M`, at(x), ` `, at(y), mark, `"><title>`, esc(e.Label),
			`</title></path>`)
	}
}

// bars draws points as bars; from and wide are parts of a slot, from its middle.
func (d *drawing) bars(class string, points []Point, from, wide float64) {
	zero, y := d.y(max(0, d.low)), d.y
	if d.banded() {
		zero = float64(d.foot)
		y = func(v int64) float64 { return zero - float64(v)/float64(max(d.mostBar(), 1))*bandHigh }
	}
	if d.below() && class == "bar past" {
		zero, y = d.pastY(0), d.pastY
	}
	for i, p := range points {
		top := min(y(p.Value), zero)
		if d.Until != 0 && class == "bar" && i == len(points)-1 {
			class = "bar going"
		}
		d.write(`<rect class="`, class, `" x="`, at(d.x(i, p)+from*d.slot()), `" y="`, at(top), `" width="`,
			at(wide*d.slot()),
			`" height="`, at(max(y(p.Value), zero)-top), `"><title>`, esc(d.label(p)), `: `, esc(d.show(p.Value)),
			`</title></rect>`)
	}
}

// rest draws what Line is above Bars, where it is: a bar behind a whole one would show as a hair along its edges.
func (d *drawing) rest() {
	for i, p := range d.Line {
		if i >= len(d.Bars) || p.Value <= d.Bars[i].Value {
			continue
		}
		late := p.Value
		if i == len(d.Line)-1 {
			late -= d.Todo
		}
		d.above("owed", d.Late, i, d.Bars[i].Value, late)
		d.above("rest", d.Rest, i, late, p.Value)
	}
}

// above draws a part of bar i, nothing if it is empty.
func (d *drawing) above(look, name string, i int, from, to int64) {
	if p := d.Line[i]; from < to {
		d.write(`<rect class="bar `, look, `" x="`, at(d.x(i, p)-.35*d.slot()), `" y="`, at(d.y(to)), `" width="`,
			at(.7*d.slot()), `" height="`, at(d.y(from)-d.y(to)), `"><title>`, esc(d.label(p)), `: `, esc(name), ` `,
			esc(d.show(to-from)), `</title></rect>`)
	}
}

func (d *drawing) mostBar() int64 {
	_, high := ends(d.Bars)
	return high
}

// below says that there are more places than pairs of bars have room for: the time before has a strip below.
func (d *drawing) below() bool { return d.Past && max(d.n, len(d.places())) > mostPairs }

// pastY is y in the strip of the time before.
func (d *drawing) pastY(v int64) float64 {
	low, _ := ends(d.Line)
	return d.y(v) + float64(d.foot) - d.y(low)
}

// ends are the lowest and the highest of zero and the points' values.
func ends(points []Point) (low, high int64) {
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	return low, high
}

// line draws points as one line, with dots if there are few.
func (d *drawing) line(class string, points []Point, from int, steps bool) {
	if len(points) == 0 {
		return
	}
	var dots strings.Builder
	d.write(`<path class="`, class, `" d="`)
	for i, p := range points {
		x, y := at(d.x(from+i, p)), at(d.y(p.Value))
		switch {
		case i == 0:
			d.write(`M`, x, ` `, y)
		case steps:
			d.write(`H`, x, `V`, y)
		default:
			d.write(`L`, x, ` `, y)
		}
		dots.WriteString(`<path class="dot" d="M` + x + ` ` + y + `h0"><title>` + esc(d.label(p)) + `: ` +
			esc(d.show(p.Value)) + `</title></path>`)
	}
	d.write(`"/>`)
	if class == "line" && !steps && len(points) <= mostDots && len(d.Events) == 0 && !d.Low {
		d.write(dots.String())
	}
}
