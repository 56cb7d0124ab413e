package form

import (
	"slices"
	"sync"
)

// logic is the compiled form of a definition. It is built once and then read-only: a
// definition in use never changes.
type logic struct {
	once            sync.Once
	fields          map[string]*Field
	steps           []step
	formulas        map[string]*formula // of calculated fields, by key
	hasOptionLimits bool                // whether any option has a limit
	hasFiles        bool                // whether any answer consists of files
	hasTotals       bool                // whether any field is a total
	size            int64               // bytes of the definition and its logic in memory

	// variables are the keys that formulas use, with the values of missing answers.
	variables map[string]any

	alwaysShown map[string]bool // all keys if the form has no logic, otherwise nil
}

// step is a field with everything that evaluation needs to know about it.
type step struct {
	*Field
	kind      Kind
	traits    *Traits
	hasAnswer bool // the field has an answer
}

func (d *Definition) prepared() *logic {
	l := &d.logic
	l.once.Do(func() {
		l.fields = make(map[string]*Field, len(d.Fields))
		l.formulas, l.variables = map[string]*formula{}, map[string]any{}
		scope := newScope(len(d.Fields))
		if !slices.ContainsFunc(d.Fields, func(f *Field) bool { return f.ShowIf != nil || len(f.Jumps) > 0 }) {
			l.alwaysShown = make(map[string]bool, len(d.Fields))
		}
		for _, f := range d.Fields {
			l.fields[f.Key] = f
			l.steps = append(l.steps, step{f, KindOf(f.Kind), f.Traits(), f.HasAnswer()})
			if l.alwaysShown != nil {
				l.alwaysShown[f.Key] = true
			}
			l.hasOptionLimits = l.hasOptionLimits || slices.ContainsFunc(f.Options, func(o Option) bool { return o.Cap > 0 })
			l.hasFiles = l.hasFiles || f.Traits().Files
			l.hasTotals = l.hasTotals || f.Total != ""
			if !f.Traits().Calculated || f.Total != "" {
				scope.add(f, false)
				continue
			}
			// It was valid when it was saved. If a newer version of the program rejects
			// it, it has no result.
			formula, err := compileExpression(f.Expression, scope)
			if err == nil {
				l.formulas[f.Key] = formula
				for key := range formula.weights {
					l.variables[key] = scope.missing(key)
				}
			}
			scope.add(f, err == nil && formula.isText)
		}
		for _, f := range d.Fields {
			f.ShowIf.prepare(l.fields)
			for _, jump := range f.Jumps {
				if jump != nil {
					jump.If.prepare(l.fields)
				}
			}
		}
		for _, e := range d.Endings {
			if e != nil {
				e.ShowIf.prepare(l.fields)
			}
		}
		l.size = d.measure(l)
	})
	return l
}

// field returns the field with the key, or nil. It works on definitions that still
// change; use Field for all others.
func (d *Definition) field(key string) *Field {
	for _, f := range d.Fields {
		if f != nil && f.Key == key {
			return f
		}
	}
	return nil
}

// Field returns the field with the key, or nil.
func (d *Definition) Field(key string) *Field { return d.prepared().fields[key] }
