package public

import (
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// A policy contains only valid sites.
func TestPolicySites(t *testing.T) {
	s := &fillSession{form: store.PublicForm{
		Availability: form.Availability{Sites: "https://a.example https://b.example;script-src-elem"},
		Definition: &form.Definition{Endings: []*form.Ending{
			{Redirect: "https://good.example/x"}, {Redirect: "https://good.example/y"}, {Redirect: "https://x;script-src-elem/"}, {Redirect: "https://x;script-src-elem;/"}, {Redirect: "https://x,y/"},
		}},
	}}
	got := page.Policy(&closedPage{Layout: s.layout()})
	if want := "form-action 'self' https://good.example; "; !strings.Contains(got, want) {
		t.Errorf("the policy is %s, want %s", got, want)
	}
	if want := "frame-ancestors 'self' https://a.example"; !strings.HasSuffix(got, want) {
		t.Errorf("the policy is %s, want %s", got, want)
	}
	for _, part := range []string{"elem", ","} {
		if strings.Contains(got, part) {
			t.Errorf("the policy is %s, which contains %q", got, part)
		}
	}
}
