package delivery

import "formulary/internal/store"

// Holds reports whether this node has leased the slot of an account, and so does its work in
// the background.
func (d *Dispatcher) Holds(owner string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slots[store.DeliverySlot(owner)]
}

// LeaseChanges returns how often this node has gained or lost slots.
func (d *Dispatcher) LeaseChanges() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// Yields reports whether submissions need the processors, so that work in the background is to
// wait.
func (d *Dispatcher) Yields() bool { return d.load.yields() }
