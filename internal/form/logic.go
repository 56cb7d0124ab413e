package form

import (
	"slices"
	"sync"
)

// logic is what a definition works with, prepared once and then only read: a
// definition that is in use is never changed.
type logic struct {
	once     sync.Once
	fields   map[string]*Field
	steps    []step
	formulas map[string]*formula // of calculated fields, by key
	capped   bool                // whether any option has a cap
	size     int64               // bytes of the definition with all of this

	// variables are the keys that any formula uses, with what counts for a missing
	// answer.
	variables map[string]any

	everything map[string]bool // all keys, where nothing is ever hidden; otherwise nil
}

// step is a field, and what there is to do with it for every response.
type step struct {
	*Field
	kind   Kind
	traits *Traits
	asked  bool // has an answer
}

func (d *Definition) prepared() *logic {
	l := &d.logic
	l.once.Do(func() {
		l.fields = make(map[string]*Field, len(d.Fields))
		l.formulas, l.variables = map[string]*formula{}, map[string]any{}
		scope := newScope(len(d.Fields))
		if !slices.ContainsFunc(d.Fields, func(f *Field) bool { return f.ShowIf != nil || len(f.Jumps) > 0 }) {
			l.everything = make(map[string]bool, len(d.Fields))
		}
		for _, f := range d.Fields {
			l.fields[f.Key] = f
			l.steps = append(l.steps, step{f, KindOf(f.Kind), f.Traits(), f.HasAnswer()})
			if l.everything != nil {
				l.everything[f.Key] = true
			}
			l.capped = l.capped || slices.ContainsFunc(f.Options, func(o Option) bool { return o.Cap > 0 })
			if !f.Traits().Calculated {
				scope.add(f, false)
				continue
			}
			// It was checked when it was saved: an error is one of a program
			// that has changed since, and then there is no result.
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

// field finds a field by its key, or returns nil. It is for definitions that may
// still be changing; Field is for those in use.
func (d *Definition) field(key string) *Field {
	for _, f := range d.Fields {
		if f != nil && f.Key == key {
			return f
		}
	}
	return nil
}

// Field finds a field by its key, or returns nil.
func (d *Definition) Field(key string) *Field { return d.prepared().fields[key] }
