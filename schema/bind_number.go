package schema

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Int binds a whole number.
func (f *Form) Int(p *int64, name, about string, opts ...Opt) bool {
	a, ok := f.decimals(p, Arg{Name: name, About: about, Kind: IntKind, Default: orNothing(*p)}, opts)
	if ok && a.capped && *p > *a.Max {
		*p = *a.Max
	}
	return ok
}

// IntPtr binds an optional whole number; nil if absent.
func (f *Form) IntPtr(p **int64, name, about string, opts ...Opt) bool {
	return optional(p, f.Int, name, about, opts)
}

// ID binds a record's id. A path's value that is not a positive whole number gives 404.
func (f *Form) ID(p *int64, name, about string, opts ...Opt) bool {
	a := Arg{Name: name, About: about, Kind: IntKind}
	Range(1, math.MaxInt64)(&a)
	if f.surface == Tool {
		return f.toolID(p, a, opts)
	}
	a, v, ok := f.add(a, opts)
	if !ok {
		return false
	}
	if f.surface == Command || f.surface == Page {
		n, ok := f.id(a, v.text)
		if ok {
			*p = n
		}
		return ok
	}
	if v.isText && a.Path != "" && f.surface == REST {
		n, err := strconv.ParseUint(v.text, 10, 63)
		if err != nil || n == 0 {
			f.pathErr = fault.NotFoundf("%s %s in the path is not an id: ids are positive whole numbers", a.Path, Quote(v.text))
		}
		*p = int64(n)
		return f.pathErr == nil
	}
	n, ok := f.number(a, v, 0)
	if !ok || !f.within(a, n, 1) {
		return false
	}
	*p = n
	return true
}

// Milli binds a quantity with at most three decimals.
func (f *Form) Milli(p *exact.Milli, name, about string, opts ...Opt) bool {
	a := Arg{Name: name, About: about, Kind: NumberKind, Places: 3, Default: orNothing(*p)}
	_, ok := f.decimals((*int64)(p), a, opts)
	return ok
}

// MilliPtr binds an optional quantity; nil if absent.
func (f *Form) MilliPtr(p **exact.Milli, name, about string, opts ...Opt) bool {
	return optional(p, f.Milli, name, about, opts)
}

// Amount binds an amount in currency units with at most two decimals, as cents.
func (f *Form) Amount(p *int64, name, about string, opts ...Opt) bool {
	_, ok := f.decimals(p, Arg{Name: name, About: about, Kind: NumberKind, Places: 2}, opts)
	return ok
}

// decimals binds a number with at most so many decimals as the argument has, in units of the last of them.
func (f *Form) decimals(p *int64, a Arg, opts []Opt) (Arg, bool) {
	a, v, ok := f.add(a, opts)
	if !ok {
		return a, false
	}
	n, ok := f.number(a, v, a.Places)
	if ok = ok && f.within(a, n, [...]int64{1, 10, 100, 1000}[a.Places]); ok {
		*p = n
	}
	return a, ok
}

// number parses a number into whole units of 10^-places.
func (f *Form) number(a Arg, v value, places int) (int64, bool) {
	token := v.text
	switch {
	case !v.isText && v.json.Kind() == strict.Number:
		token = string(v.json.Raw())
	case !v.isText && f.surface == Tool && v.json.Kind() == strict.String: // a slip without loss
		token = v.json.Text()
		if f.unclear(a, token) {
			return 0, false
		}
	case !v.isText:
		f.wrongType(a, v)
		return 0, false
	case f.surface == Page && a.cents():
		return f.money(a, token)
	case f.surface == Page:
		if whole, cut, two := readTwice(token, places); two && places == 2 && f.surface == Page {
			f.Refuse(a.Name, "%s: %s can be read in two ways. Write %s or %s.", f.shown(a), Quote(token), whole, cut)
			return 0, false
		}
		if plain, ok := decimal(token, places == 2); ok {
			token = plain
		}
	}
	var n int64
	var err error
	if places == 2 {
		n, err = exact.ParseCents(token)
	} else {
		var m exact.Milli
		m, err = exact.ParseMilli(token)
		n = int64(m)
		if places == 0 && err == nil {
			if n%1000 != 0 || a.cents() && strings.ContainsAny(token, ".eE") {
				err = exact.ErrTooFine
			}
			n /= 1000
		}
		switch {
		case places == 0 && errors.Is(err, exact.ErrTooLarge) && a.capped && token[0] != '-':
			n, err = *a.Max, nil
		case places == 0 && errors.Is(err, exact.ErrTooLarge):
			n, err = strconv.ParseInt(token, 10, 64)
		}
	}
	switch {
	case errors.Is(err, exact.ErrTooFine) && places > 0:
		f.refuse(a, ": %s has too many decimals; it takes at most %d decimals", Quote(token), places)
	case err != nil:
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(token), f.wants(a))
	}
	return n, err == nil
}

func (f *Form) within(a Arg, n, unit int64) bool {
	low := a.Min != nil && wideLess(n, *a.Min, unit)
	high := a.Max != nil && !a.capped && *a.Max < math.MaxInt64/unit && n > *a.Max*unit
	switch {
	case !low && !high:
		return true
	case f.surface == Page && a.cents():
		f.refuse(a, ": %s is out of range; it takes an amount%s", f.currency().Amount(n), a.boundsBy(f.currency().Amount))
	default:
		// #nosec G115 -- a unit has at most three places
		f.refuse(a, ": %s is out of range; it takes %s", exact.Decimal{Unscaled: n, Places: uint8(places(unit))}, f.wants(a))
	}
	return false
}

func wideLess(n, bound, unit int64) bool { return exact.Mul(n, 1).Cmp(exact.Mul(bound, unit)) < 0 }

func places(unit int64) int { return len(strconv.FormatInt(unit, 10)) - 1 }

// Limit binds the number of records of a list: on REST 500 or *p, at most 1000 (more becomes 1000); for agents 50, at
// most 200 (more is refused). It reports whether the call set it.
func (f *Form) Limit(p *int64) bool {
	if f.surface == Command { // a list at the command line is complete
		*p = math.MaxInt32
		return f.Int(p, "limit",
			"return at most this many records (default: all)", Range(1, math.MaxInt32), func(a *Arg) { a.Default = nil })
	}
	if *p == 0 {
		*p = 500
	}
	if f.surface == Tool {
		*p = 50
		return f.Int(p, "limit", "rows at most", Range(1, 200))
	}
	return f.Int(p, "limit",
		"the most records to return; above 1000 counts as 1000", Range(1, 1000), func(a *Arg) { a.capped = true })
}
