package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Line   []Point            // over the same places as Bars, or alone
	Ahead  []Point            // continues Line, dashed
	Limit  *Point             // a level, with its name
	Now    *Point             // a day with its name: "today 21"
	Marks  []Point            // vertical lines for the future
	Events []Part             // events on a day: squares at the foot if Look is Bad, dots otherwise
	Past   bool               // Line is for comparison, as the time before: a paler bar before each of Bars
	Low    bool               // it is half as high: an aside of its page
	Steps  bool               // Line holds each value until the next one
	Label  string             // the table's first column, "Day"
	Names  [2]string          // names of bars and line, "Sold" and "Stock"
	Plain  func(int64) string // a value as in REST; nil is the number
	Show   func(int64) string // a value for people; nil is Plain
	Tables bool               // the numbers are shown unfolded
}

// A chart is as wide as its container and so many pixels high. The plot is stretched (plotWide units), its words are
// not; the style sheet reserves space for those beside it.
const (
	plotWide           = 1000
	plotTop, plotFoot  = 22, 196
	lowFoot            = 96
	eventsFoot         = 84 // of a chart of events alone
	belowPlot          = 24
	mostTicks          = 5
	mostDots           = 40
	mostLines          = 4
	smallPart          = 4 // of a step
	mostMonths         = 13
	bandPart           = 4  // of the plot's height
	linesBetweenLabels = 14 // pixels for two lines of words
)

// drawing is a chart with the positions of its values.
type drawing struct {
	Chart
	f           *Frame
	b           strings.Builder
	from, to    exact.Day // of a chart by days; to is the day after the last
	n           int       // places of a chart by labels
	foot        int       // where the plot ends
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
		d := &drawing{Chart: c, f: f, foot: plotFoot}
		if len(c.Bars)+len(c.Line) == 0 {
			d.foot = eventsFoot
		}
		if d.Low {
			d.foot = lowFoot
		}
		d.plain, d.show = c.words()
		d.span()
		d.scale()
		d.write(`<figure class="sheet pad"><figcaption>`, esc(c.Title), d.legend(),
			`</figcaption><svg class="chart" height="`, num(d.foot+belowPlot), `" role="img" aria-label="`, esc(c.Title), `">`)
		d.plot()
		d.texts()
		d.write(`</svg>`)
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

// legend names the colours of a chart that has two.
func (d *drawing) legend() string {
	if len(d.Bars) == 0 || len(d.Line) == 0 || d.Names[1] == "" {
		return ""
	}
	line := "line"
	if d.Past {
		line = "past"
	}
	return `<span class="keys"><span class="key bar">` + esc(d.Names[0]) + `</span><span class="key ` + line + `">` +
		esc(d.Names[1]) + `</span></span>`
}

func num[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// at is a position across the plot with one decimal.
func at(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func (c Chart) all() []Point { return slices.Concat(c.Bars, c.Line, c.Ahead) }

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

// scale chooses round numbers for at most four lines above the lowest. A line alone need not begin at zero.
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
	if d.Low {
		lines /= 2
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

func floorTo(v, step int64) int64 {
	if v < 0 {
		return -((-v + step - 1) / step * step)
	}
	return v / step * step
}

func (d *drawing) y(v int64) float64 {
	return float64(d.foot) - float64(v-d.low)/float64(d.high-d.low)*float64(d.foot-plotTop)
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
	if d.Past {
		d.bars("bar past", d.Line, -.4, .4)
		d.bars("bar", d.Bars, 0, .4)
	} else {
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
		d.write(`<path class="now" d="M`, at(d.x(0, *d.Now)), ` `, num(plotTop), `V`, num(d.foot), `"/>`)
	}
	for _, m := range d.Marks {
		d.write(`<path class="now ahead" d="M`, at(d.x(0, m)), ` `, num(plotTop), `V`, num(d.foot), `"><title>`,
			esc(m.Label), `</title></path>`)
	}
	for _, e := range d.Events {
		d.write(`<path class="event `, e.Look, `" d="M`, at(d.x(0, Point{Day: e.Day})), ` `, num(d.foot), `h0"><title>`,
			esc(e.Label), `</title></path>`)
	}
	d.write(`</svg>`)
}

// bars draws points as bars; from and wide are parts of a slot, from its middle.
func (d *drawing) bars(class string, points []Point, from, wide float64) {
	zero, y := d.y(max(0, d.low)), d.y
	if d.banded() {
		most := slices.MaxFunc(points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) }).Value
		y = func(v int64) float64 { return zero - float64(v)/float64(max(most, 1))*float64(d.foot-plotTop)/bandPart }
	}
	for i, p := range points {
		top := min(y(p.Value), zero)
		d.write(`<rect class="`, class, `" x="`, at(d.x(i, p)+from*d.slot()), `" y="`, at(top), `" width="`,
			at(wide*d.slot()),
			`" height="`, at(max(y(p.Value), zero)-top), `"><title>`, esc(d.label(p)), `: `, esc(d.show(p.Value)),
			`</title></rect>`)
	}
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
	if class == "line" && !steps && len(points) <= mostDots {
		d.write(dots.String())
	}
}

// texts writes the words of the chart.
func (d *drawing) texts() {
	var levels []string
	first := -floorTo(-d.low, d.step)
	for v := first; v <= d.high && len(d.all()) > 0; v += d.step {
		levels = append(levels, d.show(v))
	}
	whole := !slices.ContainsFunc(levels, func(s string) bool { return !strings.HasSuffix(s, ".00") })
	for i, s := range levels {
		if whole {
			s = strings.TrimSuffix(s, ".00")
		}
		d.text("end", "", -8, d.y(first+int64(i)*d.step)+4, s)
	}
	if d.Limit != nil {
		d.text("end", "", plotWide, d.y(d.Limit.Value)-5, d.Limit.Label)
	}
	if d.Now != nil {
		d.text("end", "", d.x(0, *d.Now)-6, plotTop-6, d.Now.Label)
	}
	for i, m := range d.Marks {
		anchor, x := "start", d.x(0, m)+6
		switch {
		case d.Now != nil && m.Day <= d.Now.Day: // it is past, and below the label of today
			anchor, x, i = "end", x-12, i+1
		case x > plotWide*.7:
			anchor, x = "end", plotWide
		}
		d.text(anchor, "odd", x, plotTop-6+float64(i*linesBetweenLabels), m.Label)
	}
	d.ticks()
}

// text writes words at a position across the plot: left of it in pixels, inside it by share.
func (d *drawing) text(anchor, class string, x, y float64, words string) {
	across := at(x/plotWide*100) + "%"
	if x < 0 {
		across = at(x)
	}
	if class != "" {
		class = `" class="` + class
	}
	d.write(`<text text-anchor="`, anchor, class, `" x="`, across, `" y="`, at(y), `">`, esc(words), `</text>`)
}

// ticks writes some of the labels below the plot: the ends, and those that fit between.
func (d *drawing) ticks() {
	points := d.places()
	if len(points) == 0 {
		return
	}
	n, year := min(len(points), mostTicks), 0
	january := slices.IndexFunc(points, func(p Point) bool { return strings.HasPrefix(p.Label, "January ") })
	months := january >= 0 && len(points) <= mostMonths // each has its label, below its bar
	if months {
		n = len(points)
	}
	for i := range n {
		at := 0
		if n > 1 {
			at = i * (len(points) - 1) / (n - 1)
		}
		p, anchor, class := points[at], "middle", ""
		switch {
		case months && (i-january)%3 != 0:
			class = "odd"
		case months:
		case i == 0 && n > 2:
			anchor = "start"
		case i == n-1 && n > 2:
			anchor = "end"
		case i%2 == 1:
			class = "odd" // omitted if there is little room
		}
		words := d.label(p)
		if month, err := time.Parse("January 2006", p.Label); err == nil {
			if words = month.Format("Jan"); month.Year() != year {
				words += " " + num(month.Year())
			}
			year = month.Year()
		}
		if p.Label == "" {
			y, m, day := p.Day.Date()
			if words = num(day) + " " + m.String()[:3]; y != year {
				words += " " + num(y)
			}
			year = y
		}
		x := d.x(at, p)
		if anchor == "start" {
			x -= d.slot() / 2
		}
		if anchor == "end" {
			x += d.slot() / 2
		}
		d.text(anchor, class, x, float64(d.foot)+belowPlot-6, words)
	}
}

// places are the points of a chart by days, one for each day, or by labels.
func (d *drawing) places() []Point {
	if d.to > d.from {
		days := make([]Point, 0, d.to-d.from)
		for day := d.from; day < d.to; day++ {
			days = append(days, Point{Day: day})
		}
		return days
	}
	if len(d.Bars) >= len(d.Line)+len(d.Ahead) {
		return d.Bars
	}
	return slices.Concat(d.Line, d.Ahead)
}

func (d *drawing) label(p Point) string {
	if p.Label != "" || p.Day == 0 {
		return p.Label
	}
	return d.f.day(p.Day)
}
