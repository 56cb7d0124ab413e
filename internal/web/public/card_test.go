package public

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// While many cards of one account are drawn, those of another account are drawn at once.
func TestCardsOfOneOwner(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, begun, end := newCards(), make(chan bool, 2*maxDrawings), make(chan bool)
	var group sync.WaitGroup
	for range 2 * maxDrawings {
		group.Go(func() {
			c.draw(ctx, "ada", func() error {
				begun <- true
				<-end
				return nil
			})
		})
	}
	<-begun
	isDrawn := false
	if err := c.draw(ctx, "bob", func() error { isDrawn = true; return nil }); err != nil || !isDrawn || len(begun) > 0 {
		t.Errorf("Bob's card: %v, %v; %d more of Ada's", isDrawn, err, len(begun))
	}
	cancel() // those who wait give up
	if err := c.draw(ctx, "ada", func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the client has gone: %v", err)
	}
	close(end)
	group.Wait()
	if len(c.turns) != 0 || !c.drawing.TryAcquire(maxDrawings) {
		t.Errorf("%d turns are left", len(c.turns))
	}
}
