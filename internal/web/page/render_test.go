package page

import (
	"strings"
	"testing"
)

// A policy cannot be extended by the sites in it.
func TestPolicySources(t *testing.T) {
	p := &errorPage{Layout: Layout{FormAction: "https://c.example;script-src-elem https://d.example app:"}}
	if got := Policy(p); !strings.Contains(got, "form-action 'self' https://d.example app:; ") {
		t.Errorf("the policy is %s", got)
	}
}

// Rendering stops when the page is too large.
func TestPageBuffer(t *testing.T) {
	var out pageBuffer
	var err error
	for err == nil {
		_, err = out.Write(make([]byte, 1<<20))
	}
	if err != errPageTooLarge || out.Len() > maxPage {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
