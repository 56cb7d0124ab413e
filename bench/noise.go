package main

import (
	"cmp"
	"slices"
	"time"
)

// machineUse is the CPU time that other processes used, and the total that was
// available.
type machineUse struct{ byOthers, capacity time.Duration }

func (u machineUse) share() float64 { return float64(u.byOthers) / float64(max(1, u.capacity)) }

func (u machineUse) minus(v machineUse) machineUse {
	return machineUse{u.byOthers - v.byOthers, u.capacity - v.capacity}
}

// moreRounds limits the number of measured rounds, as a factor of those wanted.
const moreRounds = 2

// quietestRounds measures until enough rounds were quiet or the limit is reached. It
// returns the indexes of the wanted number of rounds in which other processes used the
// least CPU.
func (b *bench) quietestRounds(want int, measure func() error) ([]int, error) {
	var rounds []machineUse
	for quiet := 0; quiet < want && len(rounds) < moreRounds*want; {
		before := b.used
		if err := measure(); err != nil {
			return nil, err
		}
		round := b.used.minus(before)
		rounds = append(rounds, round)
		if round.share() <= maxOtherUse {
			quiet++
		}
	}
	order := make([]int, len(rounds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rounds[i].share(), rounds[j].share()) })
	for _, i := range order[want:] {
		b.used = b.used.minus(rounds[i])
	}
	return order[:want], nil
}

// pick returns the values at the given indexes.
func pick(list []float64, rounds []int) []float64 {
	picked := make([]float64, len(rounds))
	for i, round := range rounds {
		picked[i] = list[round]
	}
	return picked
}
