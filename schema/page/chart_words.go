package page

import (
	"math"
	"slices"
	"strings"
	"time"
)

// legend names the marks of a chart that has several.
func (d *drawing) legend() string {
	keys := ""
	key := func(look, name string) { keys += `<span class="key ` + look + `">` + esc(name) + `</span>` }
	switch {
	case len(d.Bars) == 0 || len(d.Line) == 0 || d.Names[1] == "":
	case d.Rest != "":
		key("bar", d.Names[0])
		if d.Late != "" {
			key("owed", d.Late)
		}
		if d.Todo > 0 {
			key("rest", d.Rest)
		}
	case d.below(): // each strip has its name
	case d.Past:
		key("past", d.Names[1])
		key("bar", d.Names[0])
	default:
		key("bar", d.Names[0])
		key("line", d.Names[1])
		if len(d.Ahead) > 0 {
			key("ahead", "Expected")
		}
	}
	if d.Until != 0 && !d.below() {
		key("going", "Up to "+d.f.day(d.Until))
	}
	switch {
	case d.Limit == nil:
	case d.banded(): // where there is no room on the line
		key("limit odd", strings.ToUpper(d.Limit.Label[:1])+d.Limit.Label[1:])
	default:
		key("limit", d.Limit.Label)
	}
	for _, m := range d.Marks { // where there is no room above the plot
		switch {
		case len(d.Ahead) > 0:
		case d.Low && d.Now != nil && m.Day < d.Now.Day:
			key("ahead odd owed", m.Label)
		default:
			key("ahead odd", m.Label)
		}
	}
	for i, look := range []string{Good, Bad, Bad + " late"} {
		if slices.ContainsFunc(d.Events, func(e Part) bool { return e.Look == look }) {
			key("event "+look, d.Kinds[i])
		}
	}
	if keys == "" {
		return ""
	}
	return `<span class="keys">` + keys + `</span>`
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
	if d.banded() {
		if d.Limit != nil {
			y := d.y(d.Limit.Value)
			if y += linesBetweenLabels; y > float64(d.base)-4 { // there is no room below its line
				y -= linesBetweenLabels + 5
			}
			d.text("end", "odd", plotWide, y, d.Limit.Label)
		}
		d.text("start", "", 0, float64(d.foot-bandHigh)-8, d.Names[0]+" a day")
		d.text("end", "", -8, float64(d.foot-bandHigh)+4, d.show(d.mostBar()))
		d.text("end", "", -8, float64(d.foot)+4, d.show(0))
	}
	if d.below() {
		d.text("start", "", 0, d.y(d.low)+betweenStrips-8, d.Names[1])
		_, high := ends(d.Line)
		for v := int64(0); v < high+d.step; v += d.step {
			d.text("end", "", -8, d.pastY(v)+4, strings.TrimSuffix(d.show(v), ".00"))
		}
	}
	if d.Now != nil && !d.Low {
		d.text("end", "", d.x(0, *d.Now)-6, plotTop-6, d.Now.Label)
	}
	if d.Low {
		if d.Now != nil {
			d.text(anchored(d.x(0, *d.Now), .94), "", d.x(0, *d.Now), float64(d.foot)+belowPlot-6, d.Now.Label)
		}
		d.stacked()
		d.ticks()
		return
	}
	for i, m := range d.Marks {
		anchor, x := "start", d.x(0, m)+6
		switch {
		case d.Now != nil && m.Day <= d.Now.Day, x > plotWide*.88: // it is below the label of today
			anchor, x, i = "end", x-12, i+1
		}
		d.text(anchor, "odd", x, plotTop-6+float64(i*linesBetweenLabels), m.Label)
	}
	if len(d.Marks) > 0 && len(d.Ahead) > 0 { // above today's label where there is no room beside it
		d.text("end", "even", plotWide, plotTop-6-linesBetweenLabels, d.Marks[0].Label)
	}
	d.ticks()
}

// stacked names the marks of a low chart, each on a line of its own, the first day lowest: no name crosses another's
// line.
func (d *drawing) stacked() {
	for i, m := range d.Marks {
		x := d.x(0, m)
		if i+1 < len(d.Marks) && d.x(0, d.Marks[i+1])-x < nearMarks { // one line of words for both
			d.Marks[i+1].Label = m.Label + "; " + d.Marks[i+1].Label
			continue
		}
		anchor, beside := anchored(x, .5), 8.
		if anchor == "end" {
			beside = -beside
		}
		d.text(anchor, "odd", x+beside, float64(d.top-8-i*linesBetweenLabels), m.Label)
	}
}

// anchored is how words lie about a position so that they stay in the plot: long ones on the side of its middle, short
// ones (edge .94) across it except near an end.
func anchored(x, edge float64) string {
	switch {
	case x > plotWide*edge:
		return "end"
	case x > plotWide*(1-edge):
		return "middle"
	}
	return "start"
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

// ticks writes labels below the plot at even distances: weeks, if they are days, and quarters, if they are months.
func (d *drawing) ticks() {
	points := d.places()
	if len(points) == 0 {
		return
	}
	today, foot := d.below() && d.Until != 0, d.daysAt()
	step, year := max(1, (len(points)-1)/(mostTicks-1)), 0
	if d.to > d.from && step > 7 {
		step = (step + 6) / 7 * 7
	}
	months := len(points) <= mostMonths && // each has its label, below its bar
		slices.ContainsFunc(points, func(p Point) bool { return strings.HasPrefix(p.Label, "January ") })
	if months {
		step = 1
	}
	last := len(points) - 1
	for i := 0; i < len(points); i += step {
		p, anchor, class, x := points[i], "middle", "", d.x(i, points[i])
		near := d.toNow(x)
		if near < nearWords/2 || today && x > plotWide-nearWords {
			continue
		}
		if slices.ContainsFunc(d.Marks, func(m Point) bool { return !d.Low && m.Day-p.Day < 4 && p.Day-m.Day < 4 }) {
			continue // the mark says the day
		}
		switch {
		case months && i%3 != 0 && (i < last || i%3 == 1), !months && len(points) > 2 && i/step%2 == 1, near < nearWords:
			class = "odd" // omitted if there is little room
		case i == 0 && months:
			anchor, x = "start", -8 // with its year it is wide
		case i == 0 && len(points) > 2 && (len(d.Bars) == 0 || d.to > d.from):
			anchor, x = "start", x-d.slot()/2
		case !months && x > plotWide*.95 && len(points) > 2:
			anchor, x = "end", x+d.slot()/2
		}
		words, of := d.tick(p)
		if of != 0 && of != year {
			year = of
			words += " " + num(of)
		}
		d.text(anchor, class, x, foot, words)
	}
	if today {
		d.text("end", "", plotWide, foot, "today")
	}
	if d.banded() && last%step > step/3 {
		d.text("end", "", plotWide, foot, d.label(points[last]))
	}
}

// daysAt is where the days stand: below the plot, or between two strips, of which the lower has its own.
func (d *drawing) daysAt() float64 {
	foot := float64(d.foot) + belowPlot - 6
	if !d.below() {
		return foot
	}
	if d.Back > 0 {
		d.text("start", "", 0, foot, d.f.day(d.from-d.Back))
		d.text("end", "", plotWide, foot, d.f.day(d.to-1-d.Back))
	}
	return d.y(d.low) + belowPlot - 6
}

// toNow is how far it is to the word of today below a low chart; the plot's width without one.
func (d *drawing) toNow(x float64) float64 {
	if !d.Low || d.Now == nil {
		return plotWide
	}
	return math.Abs(d.x(0, *d.Now) - x)
}

// tick is a point's label without its year, and the year; 0 if the label is not a time.
func (d *drawing) tick(p Point) (words string, year int) {
	if month, err := time.Parse("January 2006", p.Label); err == nil {
		return month.Format("Jan"), month.Year()
	}
	if p.Label != "" {
		return p.Label, 0
	}
	y, m, day := p.Day.Date()
	return num(day) + " " + m.String()[:3], y
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
