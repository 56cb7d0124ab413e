package form

import "math/rand/v2"

// Sampler generates the answers of one respondent, for demo data.
type Sampler struct {
	Name string // name of the respondent
	Dice *rand.Rand
}

// pick chooses an option; earlier options are more likely.
func (s Sampler) pick(options []Option) string {
	return options[min(s.Dice.IntN(len(options)), s.Dice.IntN(len(options)))].Value
}

// Example generates an answer as decoded JSON; nil if the field has none.
func (f *Field) Example(s Sampler) any {
	if example := f.Traits().Example; example != nil {
		return example(f, s)
	}
	return nil
}

func exampleName(_ *Field, s Sampler) any { return s.Name }

func exampleOption(f *Field, s Sampler) any { return s.pick(f.Options) }

// exampleStep returns a value between the middle and the top of the range.
func exampleStep(f *Field, s Sampler) any {
	span := int((*f.Max - *f.Min) / *f.Step)
	return *f.Min + *f.Step*float64(max(s.Dice.IntN(span+1), s.Dice.IntN(span+1)))
}
