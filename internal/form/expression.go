package form

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"formulary/internal/fault"
)

// Expressions work with numbers, texts and yes/no, by the keys of earlier
// fields: price * count, score > 10 ? "gold" : "silver". What could take long or
// grow without bound is left out: there are no loops, no variables of one's own
// and no ranges. Texts are bounded by the budget of the evaluation (formula.go).
const (
	maxExpression = 1000 // characters
	maxTerms      = 200
	maxAllTerms   = 10_000 // of all expressions of a form
	maxResult     = 1000   // characters of a text
	memoryBudget  = 10_000 // items of lists that one expression makes
)

// functions are those of the library that expressions may call.
var functions = []string{"abs", "ceil", "floor", "min", "max", "len", "int", "float", "lower", "upper", "hasPrefix", "hasSuffix", "indexOf"}

// customFunctions are functions that are more useful to forms than those of the library.
var customFunctions = []expr.Option{
	expr.Function("string", func(args ...any) (any, error) { return displayText(args[0]), nil }, new(func(any) string)),
	expr.Function("trim", trimmed, new(func(string) string), new(func(string, string) string)),
	expr.Function("round", rounded,
		new(func(float64) float64), new(func(int) float64), new(func(float64, int) float64), new(func(int, int) float64)),
}

// displayText is a value as a text; what is missing, or no number at all, is an empty one.
func displayText(value any) string {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return formatNumber(tidy(v))
	case []string:
		return strings.Join(v, ", ")
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// rounded has as many decimals as the second argument says, or none.
func rounded(args ...any) (any, error) {
	n, ok := args[0].(float64)
	if !ok {
		n = float64(args[0].(int))
	}
	decimals := 0
	if len(args) == 2 {
		decimals = min(max(0, args[1].(int)), 10)
	}
	scale := math.Pow10(decimals)
	return math.Round(tidy(n*scale)) / scale, nil
}

// maxCutset is how many bytes of characters trim can take away.
const maxCutset = 100

// trimmed is a text without spaces, or without the given characters, at its ends.
// Each character is compared with each of those, so there may not be many.
func trimmed(args ...any) (any, error) {
	text, _ := args[0].(string)
	if len(args) == 1 {
		return strings.TrimSpace(text), nil
	}
	cutset, _ := args[1].(string)
	if len(cutset) > maxCutset {
		return nil, strconv.ErrRange // the formula has no result
	}
	return strings.Trim(text, cutset), nil
}

// tidy takes away what comes from counting in halves of halves: 59.699999999999996
// was meant to be 59.7, and there is no -0.
func tidy(n float64) float64 {
	if n == math.Trunc(n) || math.IsNaN(n) {
		return n + 0
	}
	if t, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64); err == nil {
		return t
	}
	return n
}

// compileExpression reads an expression that may use the fields of the scope.
func compileExpression(text string, scope *scope) (*formula, error) {
	if len(text) > maxExpression {
		return nil, fault.Messagef("enter no more than %d characters", maxExpression)
	}
	var bounds costChecker
	options := []expr.Option{
		expr.Env(scope.variables(text)), expr.DisableAllBuiltins(), expr.MaxNodes(maxTerms), expr.Patch(&bounds), expr.Patch(&numericPatcher{}), expr.Optimize(false),
	}
	options = append(options, customFunctions...)
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if bounds.err != nil {
		return nil, bounds.err
	}
	if invalid, ok := errors.AsType[*file.Error](err); ok {
		if name, ok := strings.CutPrefix(invalid.Message, "unknown name "); ok {
			return nil, fault.Messagef("%q is not the key of an earlier question", name)
		}
		return nil, fault.Messagef("the formula has an error at character %d", invalid.Column+1)
	}
	if err != nil {
		return nil, fault.Messagef("the formula is too long or not valid")
	}
	switch kind := program.Node().Type(); {
	case kind == nil:
	case kind.Kind() == reflect.String:
		return newFormula(program, true), nil
	case kind.Kind() == reflect.Float64, kind.Kind() == reflect.Int:
		return newFormula(program, false), nil
	}
	return nil, fault.Messagef("the result of a formula must be a number or text")
}

// numericPatcher makes both ways of a choice numbers of the same kind, so that people need
// not know that there are two.
type numericPatcher struct{ again bool }

func (e *numericPatcher) Reset()             { e.again = false }
func (e *numericPatcher) ShouldRepeat() bool { return e.again }

// Visit looks at one term.
func (e *numericPatcher) Visit(node *ast.Node) {
	choice, ok := (*node).(*ast.ConditionalNode)
	if !ok || choice.Exp1.Type() == nil || choice.Exp2.Type() == nil {
		return
	}
	one, other := choice.Exp1.Type().Kind(), choice.Exp2.Type().Kind()
	switch {
	case one == reflect.Int && other == reflect.Float64:
		e.toFloat(&choice.Exp1)
	case one == reflect.Float64 && other == reflect.Int:
		e.toFloat(&choice.Exp2)
	}
}

func (e *numericPatcher) toFloat(node *ast.Node) {
	e.again = true
	if whole, ok := (*node).(*ast.IntegerNode); ok {
		*node = &ast.FloatNode{Value: float64(whole.Value)}
		return
	}
	*node = &ast.BuiltinNode{Name: "float", Arguments: []ast.Node{*node}}
}

// costChecker refuses the parts of the language that are not for forms.
type costChecker struct{ err error }

// Visit looks at one term.
func (b *costChecker) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode, *ast.PredicateNode, *ast.PointerNode:
		b.err = fault.Messagef("formulas cannot use variables or loops")
	case *ast.BinaryNode:
		if n.Operator == ".." || n.Operator == "matches" {
			b.err = fault.Messagef("formulas cannot use %s", n.Operator)
		}
	}
}

// checkComparisons refuses the comparison of a choice with what is not among its
// options, which would quietly never be true. Only who saves needs to hear of it: what
// was published before this was checked goes on as it is.
func checkComparisons(f *formula, scope *scope) error {
	c := comparisons{fields: scope.fields}
	node := f.program.Node()
	ast.Walk(&node, &c)
	return c.err
}

type comparisons struct {
	fields map[string]*Field
	err    error
}

// Visit looks at one term.
func (c *comparisons) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.BinaryNode); ok && slices.Contains([]string{"==", "!=", "in"}, n.Operator) {
		c.check(n.Left, n.Right)
		c.check(n.Right, n.Left)
	}
}

func (c *comparisons) check(answer, with ast.Node) {
	key, ok := answer.(*ast.IdentifierNode)
	text, isText := with.(*ast.StringNode)
	if !ok || !isText || text.Value == "" {
		return
	}
	f := c.fields[key.Value]
	if f == nil || f.Options == nil || f.Rows != nil || f.Other || hasOption(f.Options, text.Value) {
		return
	}
	c.err = fault.Messagef("%q is not the value of an option in %s", text.Value, key.Value)
}

// partsAs are the parts of an answer in the same kind of map.
func partsAs(parts map[string]any, like any) any {
	texts, lists := map[string]string{}, map[string][]string{}
	for part, value := range parts {
		switch v := value.(type) {
		case string:
			texts[part] = v
		case []string:
			lists[part] = v
		}
	}
	if _, ok := like.(map[string][]string); ok {
		return lists
	}
	return texts
}

// zeroValue is what expressions see when a question is not answered: 0, an empty
// text or an empty list.
func zeroValue(f *Field) any {
	switch f.jsonType() {
	case "number", "integer":
		return 0.0
	case "boolean":
		return false
	case "array":
		return []string{}
	case "object":
		if f.Several {
			return map[string][]string{}
		}
		return map[string]string{}
	}
	return ""
}

// storableNumber is a number that can be stored, or nil.
func storableNumber(n float64) any {
	if math.IsNaN(n) || math.Abs(n) > maxMagnitude {
		return nil
	}
	return n
}
