package reorder

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"quartermaster/schema/exact"
)

// BenchmarkOwn compares our own code with the standard library.
func BenchmarkOwn(b *testing.B) {
	shuffled := make([]sale, 50_000)
	for i := range shuffled {
		shuffled[i] = sale{day: benchFirst + exact.Day(i%50), sku: int32(i / 50), row: int32(i)}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	b.Run("sort/own", func(b *testing.B) {
		for range b.N {
			byDayAndSKU(slices.Clone(shuffled), 1000)
		}
	})
	b.Run("sort/standard", func(b *testing.B) {
		for range b.N {
			slices.SortStableFunc(slices.Clone(shuffled), func(x, y sale) int { return cmp.Or(cmp.Compare(x.day, y.day), cmp.Compare(x.sku, y.sku)) })
		}
	})
	row := rowOf(sample, sampleDay)
	b.Run("row/own", func(b *testing.B) {
		var buf []byte
		for range b.N {
			buf = row.appendJSON(buf[:0])
		}
	})
	b.Run("row/standard", func(b *testing.B) {
		for range b.N {
			_, _ = json.Marshal(&row)
		}
	})
}
