package form

import (
	"errors"
	"math/rand/v2"
	"slices"
	"unicode/utf16"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
)

// FormulaTrial is what a formula gives for sample answers, or what is wrong with it.
type FormulaTrial struct {
	Result any            // nil if there is none
	Sample []SampleAnswer // the answers that the formula uses, in the order of the form
	Err    error
	From   int // where the mistake is, in UTF-16 code units; both are 0 if that is not known
	To     int
}

// SampleAnswer is an answer that was made up.
type SampleAnswer struct {
	Field  *Field
	Answer any
}

// TryFormula runs a formula that follows the fields, with sample answers to them. The fields
// must be valid.
func TryFormula(text string, before []*Field) FormulaTrial {
	scope := newScope(len(before))
	trial := &Definition{}
	sampler := Sampler{Name: "Ada", Dice: rand.New(rand.NewPCG(1, 2))}
	answers := map[string]any{}
	for _, f := range before {
		shown := *f
		shown.ShowIf, shown.Jumps = nil, nil // everything is answered
		trial.Fields = append(trial.Fields, &shown)
		isText := false
		if f.Traits().Calculated && f.Total == "" {
			if formula, err := compileExpression(f.Expression, scope); err == nil {
				isText = formula.isText
			}
		}
		scope.add(&shown, isText)
		if f.TakesAnswer() && !f.Traits().Files {
			answers[f.Key] = f.Example(sampler)
		}
	}
	formula, err := compileExpression(text, scope)
	if err == nil {
		err = checkComparisons(formula, scope)
	}
	if err != nil {
		from, to := locateMistake(text, scope)
		return FormulaTrial{Err: err, From: from, To: to}
	}
	const key = "_" // not the key of any field
	isCalculated := func(k Kind) bool { return k.Traits().Calculated }
	kind := Kinds()[slices.IndexFunc(Kinds(), isCalculated)]
	trial.Fields = append(trial.Fields, &Field{Key: key, Kind: kind.Name(), Expression: text})
	e := trial.Evaluate(answers)
	out := FormulaTrial{Result: e.Answers[key]}
	for _, f := range before {
		if _, isUsed := formula.weights[f.Key]; isUsed {
			out.Sample = append(out.Sample, SampleAnswer{f, e.Answers[f.Key]})
		}
	}
	return out
}

// locateMistake returns the part of a formula that the compiler complains about.
func locateMistake(text string, scope *scope) (from, to int) {
	if len(text) > maxExpression {
		return 0, 0
	}
	_, err := expr.Compile(text, compilerOptions(text, scope, &costChecker{})...)
	mistake, ok := errors.AsType[*file.Error](err)
	if !ok {
		return 0, 0
	}
	runes := []rune(text)
	start := min(max(0, mistake.From), len(runes))
	end := min(max(start+1, mistake.To), len(runes))
	if start == end { // behind the end: the last character
		start = max(0, end-1)
	}
	return len(utf16.Encode(runes[:start])), len(utf16.Encode(runes[:end]))
}
