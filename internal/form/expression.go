package form

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Expressions work with numbers, texts and yes/no, by the keys of earlier
// fields: price * count, score > 10 ? "gold" : "silver". What could take long or
// grow without bound is left out: there are no loops, no variables of one's own
// and no ranges, so the work is bounded by the number of terms.
const (
	maxExpression = 1000 // characters
	maxTerms      = 200
	maxResult     = 1000 // characters of a text
	memoryBudget  = 10_000
)

// functions are those that expressions may call.
var functions = []string{"abs", "ceil", "floor", "round", "min", "max", "len", "int", "float", "string", "trim", "lower", "upper", "hasPrefix", "hasSuffix", "indexOf"}

// compileExpression reads an expression that may use the fields given, and says
// whether it results in a number or in a text.
func compileExpression(text string, before []*Field, texts map[string]bool) (program *vm.Program, isText bool, err error) {
	if len(text) > maxExpression {
		return nil, false, fmt.Errorf("at most %d characters", maxExpression)
	}
	var bounds bounded
	options := []expr.Option{
		expr.Env(variables(before, texts, nil)), expr.DisableAllBuiltins(), expr.MaxNodes(maxTerms), expr.Patch(&bounds), expr.Optimize(false),
	}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err = expr.Compile(text, options...)
	if bounds.err != nil {
		return nil, false, bounds.err
	}
	if wrong, ok := errors.AsType[*file.Error](err); ok {
		if name, ok := strings.CutPrefix(wrong.Message, "unknown name "); ok {
			return nil, false, fmt.Errorf("there is no earlier answer called %s", name)
		}
		return nil, false, fmt.Errorf("this cannot be calculated from character %d on", wrong.Column+1)
	}
	if err != nil {
		return nil, false, errors.New("this expression is too long or cannot be read")
	}
	switch kind := program.Node().Type(); {
	case kind == nil:
	case kind.Kind() == reflect.String:
		return program, true, nil
	case kind.Kind() == reflect.Float64, kind.Kind() == reflect.Int:
		return program, false, nil
	}
	return nil, false, errors.New("an expression results in a number or in a text")
}

// bounded refuses the parts of the language that are not for forms.
type bounded struct{ err error }

// Visit looks at one term.
func (b *bounded) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode, *ast.PredicateNode, *ast.PointerNode:
		b.err = errors.New("expressions have no variables of their own and no loops")
	case *ast.BinaryNode:
		if n.Operator == ".." || n.Operator == "matches" {
			b.err = fmt.Errorf("expressions have no %s", n.Operator)
		}
	}
}

// variables are the answers as expressions see them: one that is missing is 0, an
// empty text or an empty list.
func variables(fields []*Field, texts map[string]bool, answers map[string]any) map[string]any {
	env := make(map[string]any, len(fields))
	for _, f := range fields {
		if !f.asked() {
			continue
		}
		env[f.Key] = nothingOf(f, texts)
		if answer, ok := answers[f.Key]; ok && reflect.TypeOf(answer) == reflect.TypeOf(env[f.Key]) {
			env[f.Key] = answer
		}
	}
	return env
}

func nothingOf(f *Field, texts map[string]bool) any {
	if f.Kind == (calculated{}).Name() {
		if texts[f.Key] {
			return ""
		}
		return 0.0
	}
	switch KindOf(f.Kind).Schema(f)["type"] {
	case "number", "integer":
		return 0.0
	case "boolean":
		return false
	case "array":
		return []string{}
	case "object":
		return map[string]any{}
	}
	return ""
}

// run works an expression out; what cannot be said, such as 1/0, is no answer.
func run(program *vm.Program, env map[string]any) any {
	machine := vm.VM{MemoryBudget: memoryBudget}
	result, err := machine.Run(program, env)
	if err != nil {
		return nil
	}
	switch r := result.(type) {
	case float64:
		if math.IsNaN(r) || math.Abs(r) > biggest {
			return nil
		}
		return r
	case int:
		return run64(float64(r))
	case string:
		text, err := asText(r)
		if cut := []rune(text); len(cut) > maxResult {
			text = string(cut[:maxResult])
		}
		if err != nil || text == "" {
			return nil
		}
		return text
	}
	return nil
}

func run64(n float64) any {
	if math.Abs(n) > biggest {
		return nil
	}
	return n
}
