package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"formulary/internal/account"
)

const (
	formWebhooks  = 3
	backlogSize   = 50_000
	backlogRounds = 3
	// farBehind is how many responses a webhook is behind in the measurement of memory,
	// unless -behind is given. One million takes several minutes.
	farBehind = 200_000
)

// webhookFigures are the measurements of webhooks on one engine.
type webhookFigures struct {
	name     string // of the engine
	submit   submitFigures
	backlogs []backlogFigures
	far      backlogFigures
	live     liveFigures
	hanging  hangingFigures
}

// submitFigures compare submissions to a form with webhooks and to one without.
type submitFigures struct {
	without, with outcome
	meanwhile     []float64 // deliveries per second during the submissions, by round
	left          []float64 // deliveries that were left at their end
	drain         []float64 // seconds until those had arrived
}

// backlogFigures show how a webhook catches up.
type backlogFigures struct {
	responses  int
	rate       float64 // deliveries per second
	cpu        float64 // CPU seconds of the service per delivery
	idle, peak int64   // bytes: of the service at rest, and at most while it delivered
}

// growth returns how many bytes more than at rest the service needed.
func (f backlogFigures) growth() float64 { return float64(f.peak - f.idle) }

// hooked is a database whose webhooks send to one receiver.
type hooked struct {
	*dataset
	engine   string // as in -engine
	location location
	receiver *receiver
	webhooks int // that were created, on all forms
}

// fillWebhooks creates two users and an application.
func (w *dataset) fillWebhooks(ctx context.Context) error {
	var err error
	if w.smallOwner, err = w.addUser(ctx, "hooks@example.com", 0); err != nil {
		return err
	}
	if w.largeOwner, err = w.addUser(ctx, "plain@example.com", 0); err != nil {
		return err
	}
	return w.registerApp(ctx)
}

// measureWebhooks measures webhooks on one engine.
func (b *bench) measureWebhooks(ctx context.Context, engine, folder string) (f webhookFigures, err error) {
	defer func(rounds int) { b.rounds = rounds }(b.rounds)
	fmt.Fprintf(b.progress, "%s: webhooks\n", engine)
	h := &hooked{engine: engine}
	if folder, err = os.MkdirTemp(folder, "webhooks-"); err != nil {
		return f, err
	}
	if h.receiver, err = startReceiver(); err != nil {
		return f, err
	}
	defer h.receiver.close()
	var remove func()
	if h.location, remove, err = newLocation(ctx, engine, folder); err != nil {
		return f, err
	}
	defer remove()
	if h.dataset, err = seed(ctx, h.location, (*dataset).fillWebhooks); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, h.store.Close()) }()
	f.name = h.store.Engine()
	if f.submit, err = b.measureHookedSubmit(ctx, h); err != nil {
		return f, fmt.Errorf("submit: %w", err)
	}
	b.rounds = min(b.rounds, fewRounds)
	for range backlogRounds {
		backlog, err := b.measureBacklog(ctx, h, backlogSize, "")
		if err != nil {
			return f, fmt.Errorf("backlog: %w", err)
		}
		f.backlogs = append(f.backlogs, backlog)
	}
	if f.far, err = b.measureBacklog(ctx, h, b.farBehind, engine+"-webhooks"); err != nil {
		return f, fmt.Errorf("far behind: %w", err)
	}
	if f.live, err = b.measureLive(ctx, h); err != nil {
		return f, fmt.Errorf("live readers: %w", err)
	}
	if f.hanging, err = b.measureHanging(ctx, h); err != nil {
		return f, fmt.Errorf("hanging receivers: %w", err)
	}
	return f, nil
}

// addWebhooks adds n webhooks to h.form, which belongs to owner. Their paths at the receiver
// start with prefix.
func (h *hooked) addWebhooks(ctx context.Context, addr string, owner account.User, prefix string, n int) error {
	list, err := h.exchange(ctx, addr, owner, 1)
	if err != nil {
		return err
	}
	for range n {
		h.webhooks++
		text := fmt.Sprintf(`{"url": "%s%s%d", "events": ["response.created"]}`, h.receiver.url, prefix, h.webhooks)
		if _, err := fetch(ctx, addr, withToken(postJSON("/api/v1/forms/"+h.form+"/webhooks", text), list[0].Access)); err != nil {
			return fmt.Errorf("add webhook: %w", err)
		}
	}
	return nil
}

// measureHookedSubmit submits to both forms in turn. Before the next turn, everything is
// delivered.
func (b *bench) measureHookedSubmit(ctx context.Context, h *hooked) (f submitFigures, err error) {
	fmt.Fprintf(b.progress, "  Submit with %d webhooks and without\n", formWebhooks)
	service, admin, err := b.serve(ctx, h.location)
	if err != nil {
		return f, err
	}
	defer service.stop()
	if err := h.publishOrder(ctx, h.largeOwner); err != nil {
		return f, err
	}
	withoutRequest := h.submission()
	if err := h.publishOrder(ctx, h.smallOwner); err != nil {
		return f, err
	}
	withRequest := h.submission()
	if err := h.addWebhooks(ctx, service.addr, h.smallOwner, "/", formWebhooks); err != nil {
		return f, err
	}
	return b.compareSubmit(ctx, service, comparison{
		without: withoutRequest, with: withRequest, sink: h.receiver, each: formWebhooks, admin: admin, profile: h.engine + "-webhooks-submit",
	})
}

// measureBacklog creates a form with a webhook and n responses while the service does not
// run, and measures how the service delivers them. profile is the name of the profile.
func (b *bench) measureBacklog(ctx context.Context, h *hooked, n int, profile string) (f backlogFigures, err error) {
	fmt.Fprintf(b.progress, "  A webhook that is %s responses behind\n", formatInt(float64(n)))
	f.responses = n
	if err := h.publish(ctx, h.smallOwner, "Customer survey", surveyQuestions()); err != nil {
		return f, err
	}
	if f.idle, err = b.hookAtRest(ctx, h); err != nil {
		return f, err
	}
	if err := h.addResponses(ctx, n); err != nil {
		return f, err
	}
	h.receiver.reset()
	service, admin, err := b.serve(ctx, h.location)
	if err != nil {
		return f, err
	}
	defer service.stop()
	cpu, _, err := b.measureCPU(ctx, service, func() error {
		if admin == "" || profile == "" {
			return h.receiver.await(ctx, n)
		}
		return b.profile(ctx, admin, profile, func(time.Duration) error { return h.receiver.await(ctx, n) })
	})
	if err != nil {
		return f, err
	}
	f.rate, f.cpu = h.receiver.arrivals().rate(), cpu.Seconds()/float64(n)
	f.peak, err = service.peak()
	return f, err
}

// hookAtRest starts the service, adds a webhook, and returns the memory at rest.
func (b *bench) hookAtRest(ctx context.Context, h *hooked) (int64, error) {
	service, _, err := b.serve(ctx, h.location)
	if err != nil {
		return 0, err
	}
	defer service.stop()
	if err := h.addWebhooks(ctx, service.addr, h.smallOwner, "/", 1); err != nil {
		return 0, err
	}
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return service.memory()
}
