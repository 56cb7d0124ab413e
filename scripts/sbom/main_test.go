package main

import (
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8 X:nodwarf5",
		Main:      debug.Module{Path: "formulary", Version: "v1.2.3"},
		Deps: []*debug.Module{
			{Path: "example.com/b", Version: "v0.1.0", Sum: "h1:b="},
			{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1+x"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}},
	}
	d := describe(info, "abc")
	var refs []string
	for _, c := range d.Components {
		refs = append(refs, c.PURL)
	}
	if got, want := strings.Join(refs, " "), "pkg:golang/example.com/b@v0.1.0 pkg:golang/example.com/fork@v1.0.1+x pkg:golang/std@1.26.8"; got != want {
		t.Errorf("components are %s, not %s", got, want)
	}
	if got := strings.Join(d.Dependencies[0].DependsOn, " "); got != strings.Join(refs, " ") {
		t.Errorf("the binary depends on %s", got)
	}
	main := d.Metadata.Component
	if main.Ref != "pkg:golang/formulary@v1.2.3" || main.Hashes[0].Content != "abc" || main.Properties[0].Value != "arm64" {
		t.Errorf("the binary is %+v", main)
	}
}

func TestBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second strings.Builder
	for _, out := range []*strings.Builder{&first, &second} {
		if err := command([]string{self}, out); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() || !json.Valid([]byte(first.String())) {
		t.Error("two runs produced different documents")
	}
	if err := command([]string{"main.go"}, &first); err == nil {
		t.Error("a text file was accepted as a binary")
	}
}
