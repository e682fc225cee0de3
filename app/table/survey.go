package table

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Decimals are the possible decimal separators.
var Decimals = []string{"point", "comma"}

// survey is the result of a first reading of a file: its decimal separator, the format of each column of dates, and
// whether its last line is a total.
type survey struct {
	own     bool   // the file is written like our exports: a point in a quantity is decimal
	votes   [2]int // cells that are valid only with a point, only with a comma as the decimal separator
	example string // the first cell that is valid with both
	beside  [2]int // like votes, of amounts with both separators in any column: they count where no cell decides
	days    map[string]*dayVotes
	unnamed []int // columns without a name
	filled  int   // the first of those with a value, counted from 1
	total   int   // the file's last line, if it is a total
}

// dayVotes count the cells of a column that each of dayFormats can read.
type dayVotes struct {
	fits    []int
	example string // the first cell that two formats read as different dates
	between [2]int // those formats
}

// number notes what a cell implies about the decimal separator. places is the number of its currency's decimals, or -1
// for a quantity.
func (s *survey) number(text string, places int) {
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		return
	}
	whole, behind := strings.TrimPrefix(text[:last], "-"), text[last+1:]
	sign := strings.IndexByte(".,", text[last])
	mine, other := ".,"[sign:sign+1], ".,"[1-sign:2-sign]
	groups := strings.Contains(whole, mine)
	switch {
	case !digits(ungrouped.Replace(strings.NewReplacer(".", "", ",", "").Replace(whole)) + behind):
		// no number, or an empty one: refused with its row
	case groups && !strings.Contains(whole, other) && len(behind) == 3:
		s.votes[1-sign]++
	case groups:
	case strings.Contains(whole, other):
		s.votes[sign]++
	case len(behind) != 3 || places == 3 || whole == "" || whole[0] == '0' || len(whole) > 3:
		s.votes[sign]++
	case s.own && sign == 0:
	case s.example == "":
		s.example = text
	}
}

// day notes which formats can read a cell of a date or an instant.
func (s *survey) day(column, text string, c *converter) {
	text = strings.TrimSpace(text)
	v := s.days[column]
	if v == nil {
		v = &dayVotes{fits: make([]int, len(dayFormats))}
		s.days[column] = v
	}
	first, day := -1, exact.Day(0)
	for i, f := range dayFormats {
		m, ok := c.parseMoment(text, f)
		if !ok {
			continue
		}
		v.fits[i]++
		switch {
		case i == 0:
			return // no other format reads YYYY-MM-DD
		case first < 0:
			first, day = i, m.day
		case m.day != day && v.example == "":
			v.example, v.between = text, [2]int{first, i}
		}
	}
}

// totals match the first cell of a total line.
var totals = []string{
	"total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "total général", "totale",
	"totaal",
}

// bothSeparators match an amount with a decimal point, and one with a decimal comma.
var bothSeparators = [2]*regexp.Regexp{
	regexp.MustCompile(`^[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]{1,2}$`),
	regexp.MustCompile(`^[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,2}$`),
}

// line notes a line of the file.
func (s *survey) line(r record, header int, mapped bool) {
	for _, i := range s.unnamed {
		if i < len(r.cells) && strings.TrimSpace(r.cells[i]) != "" && s.filled == 0 {
			s.filled = i + 1
		}
	}
	for _, cell := range r.cells {
		if strings.Contains(cell, ".") && strings.Contains(cell, ",") {
			cell = strings.Trim(cell, " -+()€$£¥\u00a0\u202f")
			for i, written := range bothSeparators {
				if written.MatchString(cell) {
					s.beside[i]++
				}
			}
		}
	}
	s.total = 0
	at := slices.IndexFunc(r.cells, func(c string) bool { return strings.TrimSpace(c) != "" })
	if at < 0 || !slices.Contains(totals, strings.ToLower(strings.Trim(r.cells[at], " :*"))) {
		return
	}
	filled := 0
	for _, c := range r.cells {
		if strings.TrimSpace(c) != "" {
			filled++
		}
	}
	if mapped || filled < header {
		s.total = r.line
	}
}

// settle decides how the cells are read. The user is asked for what stays open.
func (s *survey) settle(c *converter, r Reading) error {
	point, comma := s.votes[0] > 0, s.votes[1] > 0
	if !point && !comma && (s.beside[0] == 0 || s.beside[1] == 0) {
		point, comma = s.beside[0] > 0, s.beside[1] > 0
	}
	switch {
	case r.Decimal != "":
		c.comma = r.Decimal == "comma"
	case point && comma:
		return fault.Fieldf("decimal",
			"the amounts are written in two ways, some with a decimal point and some with a decimal comma; %s",
			r.ask("give --decimal point or --decimal comma", "choose the decimal separator"))
	case !point && !comma && s.example != "":
		return fault.Fieldf("decimal", "%s can be read in two ways; %s",
			schema.Quote(s.example), r.ask("give --decimal point or --decimal comma", "choose the decimal separator"))
	default:
		c.comma = comma
	}
	if r.DateFormat != "" {
		return nil
	}
	for _, column := range slices.Sorted(maps.Keys(s.days)) {
		v := s.days[column]
		best := slices.Index(v.fits, slices.Max(v.fits))
		if a, b := v.between[0], v.between[1]; v.example != "" && best > 0 && v.fits[best] == v.fits[a] &&
			v.fits[a] == v.fits[b] {
			one, two := dayFormats[a].written, dayFormats[b].written
			return fault.Fieldf("date_format", "the date %s in %s can be read in two ways; %s", schema.Quote(v.example), column,
				r.ask(fmt.Sprintf("give --date-format %s or --date-format %s", one, two), fmt.Sprintf("choose %s or %s", one, two)))
		}
		c.formats[column] = dayFormats[best]
	}
	return nil
}

// ask names the next step: a flag at the command line, a field on a page.
func (r Reading) ask(flag, field string) string {
	if r.Flags {
		return flag
	}
	return field
}
