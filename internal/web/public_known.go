package web

import (
	"sync"

	"formulary/internal/store"
)

// lastKnown remembers forms for the time that the database is away.
type lastKnown struct {
	mu    sync.Mutex
	forms map[string]knownForm
	size  int64
}

type knownForm struct {
	form store.PublicForm
	size int64
}

// maxLastKnown is how many bytes of forms are remembered. A form that needs more than
// a quarter of them is not.
const maxLastKnown = 16 << 20

// knownOverhead is what a form occupies beside its definition.
const knownOverhead = 1 << 10

func (k *lastKnown) get(address string) (store.PublicForm, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.forms[address]
	return f.form, ok
}

func (k *lastKnown) put(address string, f store.PublicForm) {
	entry := knownForm{f, f.Definition.Size() + int64(len(address)+len(f.Head.Description)+len(f.Offer.Sites)) + knownOverhead}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size -= k.forms[address].size
	delete(k.forms, address)
	if entry.size > maxLastKnown/4 {
		return
	}
	for other, known := range k.forms { // any will do
		if k.size+entry.size <= maxLastKnown {
			break
		}
		k.size -= known.size
		delete(k.forms, other)
	}
	if k.forms == nil {
		k.forms = map[string]knownForm{}
	}
	k.forms[address] = entry
	k.size += entry.size
}
