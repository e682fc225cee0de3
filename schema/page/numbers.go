package page

import (
	"cmp"
	"slices"
	"strconv"
)

// words are the formats of a value, for REST and for people.
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

// table writes the chart's numbers: a row for each day or label with a value.
func (d *drawing) table() {
	if len(d.all()) == 0 {
		return
	}
	open := ""
	if d.Tables {
		open = " open"
	}
	d.write(`<details`, open, `><summary>The numbers</summary><table aria-label="`, esc(d.Title),
		`"><thead><tr><th scope="col">`, esc(d.Label), `</th>`)
	series := [][]Point{d.Bars, slices.Concat(d.Line, d.Ahead)}
	var labels []Point
	values := map[string][2]string{}
	for i, points := range series {
		if len(points) > 0 {
			d.write(`<th scope="col" class="r">`, esc(d.Names[i]), `</th>`)
		}
		for _, p := range points {
			name := d.label(p)
			row, have := values[name]
			if !have {
				labels = append(labels, p)
			}
			row[i] = data(d.plain(p.Value), d.show(p.Value))
			values[name] = row
		}
	}
	slices.SortStableFunc(labels, func(a, b Point) int { return cmp.Compare(a.Day, b.Day) })
	d.write(`</tr></thead><tbody>`)
	for _, p := range labels {
		name := d.label(p)
		d.write(`<tr><td>`, esc(name), `</td>`)
		for i, points := range series {
			if len(points) > 0 {
				d.write(`<td class="r">`, values[name][i], `</td>`)
			}
		}
		d.write(`</tr>`)
	}
	d.write(`</tbody></table></details>`)
}

// floorTo rounds down to a multiple of step.
func floorTo(v, step int64) int64 {
	if v < 0 {
		return -((-v + step - 1) / step * step)
	}
	return v / step * step
}
