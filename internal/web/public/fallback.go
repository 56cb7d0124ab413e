package public

import (
	"sync"

	"formulary/internal/store"
)

// fallbackForms keeps the last known forms for the time that the database is
// unreachable.
type fallbackForms struct {
	mu    sync.Mutex
	forms map[string]fallbackForm
	size  int64
}

type fallbackForm struct {
	form store.PublicForm
	size int64
}

// maxFallbackForms is the size of all forms in bytes. A form that needs more than a
// quarter of that is not kept.
const maxFallbackForms = 16 << 20

// fallbackOverhead is the size of a form without its definition.
const fallbackOverhead = 1 << 10

func (k *fallbackForms) get(address string) (store.PublicForm, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.forms[address]
	return f.form, ok
}

func (k *fallbackForms) put(address string, f store.PublicForm) {
	entry := fallbackForm{f, f.Definition.Size() + int64(len(address)+len(f.Header.Description)+len(f.Availability.Sites)) + fallbackOverhead}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size -= k.forms[address].size
	delete(k.forms, address)
	if entry.size > maxFallbackForms/4 {
		return
	}
	for other, known := range k.forms { // in any order
		if k.size+entry.size <= maxFallbackForms {
			break
		}
		k.size -= known.size
		delete(k.forms, other)
	}
	if k.forms == nil {
		k.forms = map[string]fallbackForm{}
	}
	k.forms[address] = entry
	k.size += entry.size
}
