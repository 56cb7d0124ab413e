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

// Expressions calculate with numbers, texts and booleans, using the keys of earlier
// fields: price * count, score > 10 ? "gold" : "silver". Nothing in the language is
// slow or unbounded: no loops, no variables, no ranges. The budget of the evaluation
// limits texts (formula.go).
const (
	maxExpression = 1000 // characters
	maxTerms      = 200
	maxAllTerms   = 10_000 // of all expressions of a form
	maxResult     = 1000   // characters of a text
	memoryBudget  = 10_000 // list items that one expression may create
)

// functions are the functions of the library that expressions may call.
var functions = []string{"abs", "ceil", "floor", "min", "max", "len", "int", "float", "lower", "upper", "hasPrefix", "hasSuffix", "indexOf"}

// customFunctions replace functions of the library that do not suit forms.
var customFunctions = []expr.Option{
	expr.Function("string", func(args ...any) (any, error) { return displayText(args[0]), nil }, new(func(any) string)),
	expr.Function("trim", trimmed, new(func(string) string), new(func(string, string) string)),
	expr.Function("round", rounded,
		new(func(float64) float64), new(func(int) float64), new(func(float64, int) float64), new(func(int, int) float64)),
}

// displayText converts a value to text; nil and NaN become empty.
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

// rounded rounds to the number of decimals in the second argument, or to an integer.
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

// maxCutset limits the characters that trim can remove, in bytes.
const maxCutset = 100

// trimmed removes spaces, or the given characters, from both ends. It compares every
// character with each of these, so their number is limited.
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

// tidy removes floating-point noise (59.699999999999996 becomes 59.7) and negative
// zero.
func tidy(n float64) float64 {
	if n == math.Trunc(n) || math.IsNaN(n) {
		return n + 0
	}
	if t, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64); err == nil {
		return t
	}
	return n
}

// compileExpression compiles an expression that may use the fields of the scope.
func compileExpression(text string, scope *scope) (*formula, error) {
	if len(text) > maxExpression {
		return nil, fault.Messagef("enter no more than %d characters", maxExpression)
	}
	var bounds costChecker
	program, err := expr.Compile(text, compilerOptions(text, scope, &bounds)...)
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

// compilerOptions restricts the language to what formulas may use.
func compilerOptions(text string, scope *scope, bounds *costChecker) []expr.Option {
	options := []expr.Option{
		expr.Env(scope.variables(text)), expr.DisableAllBuiltins(), expr.MaxNodes(maxTerms), expr.Patch(bounds), expr.Patch(&numericPatcher{}), expr.Optimize(false),
	}
	options = append(options, customFunctions...)
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	return options
}

// numericPatcher converts both branches of a conditional to the same numeric type,
// because owners do not distinguish integers from floats.
type numericPatcher struct{ again bool }

func (e *numericPatcher) Reset()             { e.again = false }
func (e *numericPatcher) ShouldRepeat() bool { return e.again }

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

// costChecker rejects the parts of the language that forms may not use.
type costChecker struct{ err error }

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

// checkComparisons rejects comparisons of a choice with a value that is not among its
// options: they would never be true. It runs only on saving, so forms published before
// this check existed keep working.
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

// partsAs converts the parts of an answer to the map type of like.
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

// zeroValue returns the value of an unanswered question in expressions: 0, an empty
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

// storableNumber returns a number that can be stored, or nil.
func storableNumber(n float64) any {
	if math.IsNaN(n) || math.Abs(n) > maxMagnitude {
		return nil
	}
	return n
}
