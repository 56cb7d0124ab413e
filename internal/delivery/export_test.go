package delivery

import "time"

// YieldFor makes deliveries yield as they do while submissions need the processors.
func (d *Dispatcher) YieldFor(t time.Duration) { d.load.until = time.Now().Add(t) }
