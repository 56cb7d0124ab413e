package main

import (
	"cmp"
	"slices"
	"time"
)

// use is what the rest of the machine did in a while, and how much it could have done.
type use struct{ elsewhere, capacity time.Duration }

func (u use) share() float64 { return float64(u.elsewhere) / float64(max(1, u.capacity)) }

func (u use) less(v use) use { return use{u.elsewhere - v.elsewhere, u.capacity - v.capacity} }

// moreRounds is how many times the rounds that are wanted there are at most.
const moreRounds = 2

// calmest measures rounds until as many as are wanted have been calm, or there is
// no point in going on, and says which of them count: those in which others took least
// of the machine.
func (b *bench) calmest(want int, measure func() error) ([]int, error) {
	var rounds []use
	for calm := 0; calm < want && len(rounds) < moreRounds*want; {
		before := b.used
		if err := measure(); err != nil {
			return nil, err
		}
		round := b.used.less(before)
		rounds = append(rounds, round)
		if round.share() <= maxElsewhere {
			calm++
		}
	}
	order := make([]int, len(rounds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rounds[i].share(), rounds[j].share()) })
	for _, i := range order[want:] {
		b.used = b.used.less(rounds[i])
	}
	return order[:want], nil
}

// those are the figures of the rounds that count.
func those(list []float64, rounds []int) []float64 {
	chosen := make([]float64, len(rounds))
	for i, round := range rounds {
		chosen[i] = list[round]
	}
	return chosen
}
