package form

import "math/rand/v2"

// Sampler makes up the answers of one respondent, for demonstrations.
type Sampler struct {
	Name string // what the respondent is called
	Dice *rand.Rand
}

// pick prefers the first options.
func (s Sampler) pick(options []Option) string {
	return options[min(s.Dice.IntN(len(options)), s.Dice.IntN(len(options)))].Value
}

// Example makes up an answer to the field, in the shape that JSON has; nil is none.
func (f *Field) Example(s Sampler) any {
	if example := f.Traits().Example; example != nil {
		return example(f, s)
	}
	return nil
}

func exampleName(_ *Field, s Sampler) any { return s.Name }

func exampleOption(f *Field, s Sampler) any { return s.pick(f.Options) }

// exampleStep is between the middle and the top.
func exampleStep(f *Field, s Sampler) any {
	span := int((*f.Max - *f.Min) / *f.Step)
	return *f.Min + *f.Step*float64(max(s.Dice.IntN(span+1), s.Dice.IntN(span+1)))
}
