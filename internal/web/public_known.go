package web

import (
	"sync"

	"formulary/internal/store"
)

// lastKnown remembers forms for the time that the database is away.
type lastKnown struct {
	mu    sync.Mutex
	forms map[string]store.PublicForm
}

const maxLastKnown = 1000

func (k *lastKnown) get(address string) (store.PublicForm, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.forms[address]
	return f, ok
}

func (k *lastKnown) put(address string, f store.PublicForm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.forms == nil || len(k.forms) >= maxLastKnown {
		k.forms = map[string]store.PublicForm{}
	}
	k.forms[address] = f
}
