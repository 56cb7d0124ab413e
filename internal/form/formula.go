package form

import (
	"maps"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// formula is a compiled expression with a bound on its cost.
//
// The library limits the lists that an expression creates, but not its texts. Every
// value in an expression is built from the answers and literals below it in the syntax
// tree. So the work is at most, for each of these, its length times the number of
// operations above it, which is known before anything runs.
type formula struct {
	program *vm.Program
	isText  bool
	terms   int64            // nodes of the syntax tree
	fixed   int64            // work that does not depend on answers
	weights map[string]int64 // by key: number of operations that read the answer
}

// maxDisplayNumber is the maximum length of a formatted number.
const maxDisplayNumber = 400

// slowFunctionFactor is how much slower upper and lower are than concatenation: they
// look up every character.
const slowFunctionFactor = 8

func newFormula(program *vm.Program, isText bool) *formula {
	f := &formula{program: program, isText: isText, weights: map[string]int64{}}
	f.addCost(program.Node(), 0)
	return f
}

// addCost adds the cost of a node with the given number of operations above it.
func (f *formula) addCost(node ast.Node, above int64) {
	f.terms++
	f.fixed++
	switch n := node.(type) {
	case *ast.IdentifierNode:
		f.weights[n.Value] += above
	case *ast.StringNode:
		f.fixed += above * int64(len(n.Value))
	case *ast.UnaryNode:
		f.addCost(n.Node, above+1)
	case *ast.BinaryNode:
		f.addCost(n.Left, above+1)
		f.addCost(n.Right, above+1)
	case *ast.ChainNode:
		f.addCost(n.Node, above)
	case *ast.MemberNode:
		f.addCost(n.Node, above)
		f.addCost(n.Property, above+1)
	case *ast.SliceNode:
		f.addCost(n.Node, above)
		for _, end := range []ast.Node{n.From, n.To} {
			if end != nil {
				f.addCost(end, above+1)
			}
		}
	case *ast.CallNode:
		f.fixed += maxDisplayNumber * (above + 1)
		f.addCosts(n.Arguments, above+slowFunctionFactor)
	case *ast.BuiltinNode:
		f.addCosts(n.Arguments, above+slowFunctionFactor)
	case *ast.ConditionalNode:
		f.addCosts([]ast.Node{n.Cond, n.Exp1, n.Exp2}, above)
	case *ast.ArrayNode:
		f.addCosts(n.Nodes, above+1)
	case *ast.MapNode:
		f.addCosts(n.Pairs, above+1)
	case *ast.PairNode:
		f.addCosts([]ast.Node{n.Key, n.Value}, above)
	}
}

func (f *formula) addCosts(nodes []ast.Node, above int64) {
	for _, node := range nodes {
		f.addCost(node, above)
	}
}

// work returns an upper bound on the work of running the formula.
func (f *formula) work(env map[string]any) int64 {
	work := f.fixed
	for key, weight := range f.weights {
		work += weight * textBytes(env[key])
	}
	return work
}

// scope contains the fields that an expression may refer to: those before it.
type scope struct {
	fields map[string]*Field
	zero   map[string]any // values of missing answers, filled on demand
}

func newScope(fields int) *scope {
	return &scope{fields: make(map[string]*Field, fields), zero: map[string]any{}}
}

// add makes a field available to later expressions. isText applies to calculated
// fields.
func (s *scope) add(f *Field, isText bool) {
	s.fields[f.Key] = f
	delete(s.zero, f.Key)
	if f.Traits().Calculated {
		s.zero[f.Key] = 0.0
		if isText {
			s.zero[f.Key] = ""
		}
	}
}

// variables returns the variables that an expression may use, with the values of
// missing answers. It looks only at the names in the text: a form may have hundreds of
// expressions and hundreds of fields.
func (s *scope) variables(text string) map[string]any {
	env := map[string]any{}
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && isKeyByte(text[end]) {
			end++
		}
		if end == start {
			start++
			continue
		}
		if key := text[start:end]; s.fields[key] != nil && s.fields[key].HasAnswer() {
			env[key] = s.missing(key)
		}
		start = end
	}
	return env
}

func isKeyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// missing returns the value that stands for a missing answer.
func (s *scope) missing(key string) any {
	value, ok := s.zero[key]
	if !ok {
		value = zeroValue(s.fields[key])
		s.zero[key] = value
	}
	return value
}

// calculation is the state of the formulas of one evaluation. It keeps the variables up
// to date instead of building them for every formula.
type calculation struct {
	env     map[string]any
	machine vm.VM
}

// calculation returns the state of the evaluation, which starts with the answers so
// far.
func (l *logic) calculation(e *Evaluation) *calculation {
	if e.calculation == nil {
		e.calculation = &calculation{env: maps.Clone(l.variables), machine: vm.VM{MemoryBudget: memoryBudget}}
		for key := range l.variables {
			if answer, ok := e.Answers[key]; ok {
				e.calculation.set(l, key, answer)
			}
		}
	}
	return e.calculation
}

// set stores an answer if any formula uses it.
func (c *calculation) set(l *logic, key string, answer any) {
	missing, used := l.variables[key]
	if !used {
		return
	}
	switch a := answer.(type) {
	case map[string]any:
		answer = partsAs(a, missing)
	case []File: // a formula can count them
		answer = fileIDs(a)
	}
	if reflect.TypeOf(answer) == reflect.TypeOf(missing) {
		c.env[key] = answer
	}
}

// run evaluates a formula. The result is nil if it is undefined, such as 1/0, or if the
// remaining budget is too small.
func (c *calculation) run(f *formula, b *budget) any {
	if !b.take(f.work(c.env)) {
		return nil
	}
	result, err := c.machine.Run(f.program, c.env)
	if err != nil {
		return nil
	}
	switch r := result.(type) {
	case float64:
		return storableNumber(tidy(r))
	case int:
		return storableNumber(float64(r))
	case string:
		text, err := asText(r)
		if err != nil || text == "" {
			return nil
		}
		text, _ = cutAt(text, maxResult)
		if len(text) > b.results {
			return nil
		}
		b.results -= len(text)
		return strings.Clone(text) // do not keep a longer text alive
	}
	return nil
}
