package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store"
)

// webhookNodes are webhooks of several accounts, some of which each node delivers.
type webhookNodes struct {
	receiver *hookReceiver
	hooks    []*nodeWebhook

	events, repeated int // that have arrived
}

// nodeWebhook is a webhook with its form.
type nodeWebhook struct {
	name      string
	form      survey
	earlier   map[string]string // responses from before the webhook
	failovers int               // since its creation
}

// addWebhooks creates webhooks, of which each node has to deliver some.
func (n *nodes) addWebhooks(t *testing.T) {
	n.webhooks.receiver = newHookReceiver(n.t)
	n.addNodeWebhook(ada, n.f)
	slots := n.slotOf(t, ada)
	delivering := func() int {
		return n.db.primary.queryInt("SELECT COUNT(DISTINCT node) FROM delivery_lease WHERE slot IN (" + slots + ")")
	}
	n.db.primary.waitUntil("shared", "SELECT COUNT(*) FROM (SELECT node FROM delivery_lease GROUP BY node HAVING COUNT(*) = 32) AS shared", 2)
	for i := 0; delivering() < 2; i++ {
		email := fmt.Sprintf("hooks%d@example.com", i)
		clitest.Command(t, n.storage, clitest.Password+"\n", "user", "add", email, "--password-stdin")
		n.addNodeWebhook(email, n.newSurvey(t, email))
		slots += ", " + n.slotOf(t, email)
	}
}

// slotOf returns the part of the accounts that a user is in.
func (n *nodes) slotOf(t *testing.T, email string) string {
	t.Helper()
	user, err := n.store.UserByEmail(context.Background(), email)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(store.DeliverySlot(user.ID))
}

// newSurvey creates an open form with one question.
func (n *nodes) newSurvey(t *testing.T, email string) survey {
	t.Helper()
	token := n.token(t, email, n.app).Access
	made := n.a.post("/api/v1/forms", `{"title": "Order", "fields": [{"key": "note", "kind": "long_text", "label": "What else?"}]}`, "Authorization: Bearer "+token)
	if a := n.a.post("/api/v1/forms/"+made.ID+"/publish", "", "Authorization: Bearer "+token); a.status != http.StatusCreated {
		t.Fatalf("create a form: %s, publish: %s", made, a)
	}
	return survey{id: made.ID, page: "/f/" + made.ID, path: "/api/v1/forms/" + made.ID + "/responses", token: token}
}

func (n *nodes) addNodeWebhook(email string, f survey) {
	h := &nodeWebhook{name: strings.ReplaceAll(email, "@", "."), form: f, earlier: n.a.readStored(f)}
	n.a.deliverTo(n.webhooks.receiver, h.name, f)
	n.webhooks.hooks = append(n.webhooks.hooks, h)
}

// startLoads starts respondents of all forms that have webhooks.
func (n *nodes) startLoads(t *testing.T, balanced *program, name string) (main *load, finish func()) {
	main = startLoad(t, balanced, n.f, name, submitters)
	all := []*load{main}
	for _, h := range n.webhooks.hooks[1:] {
		all = append(all, startLoad(t, balanced, h.form, name, 2))
	}
	return main, func() {
		t.Helper()
		for _, l := range all {
			l.finish()
		}
		n.checkDelivered(t, balanced)
	}
}

// checkDelivered waits until everything stored has arrived at the webhooks. During a failover
// both nodes can have requests in flight that arrive again.
func (n *nodes) checkDelivered(t *testing.T, balanced *program) {
	t.Helper()
	events, repeated := 0, 0
	for _, h := range n.webhooks.hooks {
		h.failovers++
		stored := balanced.readStored(h.form)
		for id := range h.earlier {
			delete(stored, id)
		}
		balanced.waitUntil("delivered to "+h.name, func() bool {
			return n.webhooks.receiver.total(h.name).Events >= len(stored)
		})
		got := n.webhooks.receiver.total(h.name)
		if missing, others := n.webhooks.receiver.missing(h.name, stored); len(missing) > 0 || others > 0 {
			t.Errorf("%s: %d of %d responses did not arrive, %d arrived that are not stored", h.name, len(missing), len(stored), others)
		}
		if got.Repeated > 2*maxInFlight*h.failovers {
			t.Errorf("%s: %d requests were repeated after %d failovers", h.name, got.Repeated, h.failovers)
		}
		events, repeated = events+got.Events, repeated+got.Repeated
	}
	t.Logf("webhooks: %d events, %d repeated", events, repeated)
	n.webhooks.events, n.webhooks.repeated = events, repeated
}

// checkTakeover kills a node after a failover. The other one delivers for all accounts.
func (n *nodes) checkTakeover(t *testing.T) {
	balanced := n.viaBalancer(t)
	n.a.kill()
	for _, h := range n.webhooks.hooks {
		if a := n.b.post(h.form.page, submission("after node A")); a.status != http.StatusCreated {
			t.Fatalf("submit: %s", a)
		}
	}
	n.checkDelivered(t, balanced)
	n.a = n.launch(0)
	balanced.waitUntil("back behind the balancer", func() bool { return !n.balancer.down[0].Load() })
	reportFigure(t, "primary replaced twice and a node killed while two nodes deliver webhooks", "%d events of %d accounts, all delivered with valid signatures; %d again",
		n.webhooks.events, len(n.webhooks.hooks), n.webhooks.repeated)
}
