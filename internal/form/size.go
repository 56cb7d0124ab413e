package form

import "unsafe"

// Memory of the parts of a definition, in bytes. The values for programs are measured
// (TestSizeMatchesHeap compares the sum with the heap).
const (
	mapEntry       = 48  // one entry of a map with a string key and a pointer as value
	allocation     = 16  // loss by rounding up to a size class
	programBytes   = 600 // a compiled program without its terms
	termBytes      = 110 // one node of its syntax tree
	operationBytes = 48  // one operation of its bytecode: code, argument, constant, location
)

// Size estimates how many bytes the definition occupies in memory, including compiled
// programs. Caches use it. It compiles the programs if necessary, so do not call it
// while the definition may still change.
func (d *Definition) Size() int64 { return d.prepared().size }

// measure adds up the memory of the definition and its compiled logic.
func (d *Definition) measure(l *logic) int64 {
	size := int64(unsafe.Sizeof(*d)) + textSize(d.Settings.SubmitLabel) + d.Design.size()
	for _, f := range d.Fields {
		size += 8 + int64(unsafe.Sizeof(*f)) + allocation
		size += f.size()
		size += int64(unsafe.Sizeof(step{})) * 3 / 2 // the slice grows in steps
		size += 2 * mapEntry                         // in fields and in alwaysShown
	}
	for _, e := range d.Endings {
		if e == nil {
			continue
		}
		size += 8 + int64(unsafe.Sizeof(*e)) + allocation
		size += textSize(e.Key) + textSize(e.Title) + textSize(e.Text) + textSize(e.Redirect) + e.ShowIf.size() + e.extrasSize()
	}
	for _, f := range l.formulas {
		size += mapEntry + f.size()
	}
	size += 2 * mapEntry * int64(len(l.variables))
	return size
}

func (f *Field) size() int64 {
	size := textSize(f.ID) + textSize(f.Key) + textSize(f.Kind) + textSize(f.Label) + textSize(f.Help) + textSize(f.Placeholder) +
		textSize(f.Unit) + textSize(f.Low) + textSize(f.High) + textSize(f.Earliest) + textSize(f.Latest) + textSize(f.Text) + textSize(f.Expression)
	for _, group := range f.Accept {
		size += 16 + textSize(group)
	}
	size += valueSize(f.Default) + f.ShowIf.size() + optionsSize(f.Options) + optionsSize(f.Rows)
	for _, jump := range f.Jumps {
		if jump != nil {
			size += 8 + int64(unsafe.Sizeof(*jump)) + allocation + textSize(jump.To) + jump.If.size()
		}
	}
	return size + 9*8 // values behind pointer properties
}

func optionsSize(options []Option) int64 {
	size := int64(cap(options)) * int64(unsafe.Sizeof(Option{}))
	for i := range options {
		size += textSize(options[i].Value) + textSize(options[i].Label) + textSize(options[i].Image) + textSize(options[i].Alt)
	}
	return size
}

func (c *Condition) size() int64 {
	if c == nil {
		return 0
	}
	size := int64(unsafe.Sizeof(*c)) + allocation + textSize(c.Field) + textSize(c.Op) + valueSize(c.Value) + 16*int64(cap(c.members))
	if c.lower != c.Value { // otherwise both share their bytes
		size += textSize(c.lower)
	}
	for _, list := range [][]*Condition{c.All, c.Any} {
		size += 8 * int64(cap(list))
		for _, part := range list {
			size += part.size()
		}
	}
	return size + c.Not.size()
}

func textSize(text string) int64 {
	if text == "" {
		return 0
	}
	return int64(len(text)) + allocation/2
}

// valueSize returns the size of a value from JSON.
func valueSize(value any) int64 {
	switch v := value.(type) {
	case string:
		return 16 + textSize(v)
	case float64:
		return 8
	case []any:
		size := 24 + 16*int64(cap(v))
		for _, item := range v {
			size += valueSize(item)
		}
		return size
	case map[string]any:
		size := int64(mapEntry)
		for key, item := range v {
			size += mapEntry + textSize(key) + valueSize(item)
		}
		return size
	}
	return 0
}

func (f *formula) size() int64 {
	return programBytes + f.terms*termBytes + int64(len(f.program.Bytecode))*operationBytes + mapEntry*int64(len(f.weights))
}
