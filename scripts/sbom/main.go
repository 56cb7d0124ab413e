// Command sbom prints the modules of a Go binary as a CycloneDX document. It reads the
// build information in the binary, so it needs neither the sources nor the network, and
// its output depends on the binary only:
//
//	go run ./scripts/sbom BINARY
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func command(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("which BINARY?")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(describe(info, fmt.Sprintf("%x", sha256.Sum256(binary))))
}

// document is the part of CycloneDX 1.6 that applies to Go binaries.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// describe lists the modules of a binary. The build information has no dependency
// graph, so all modules, including the standard library, are direct dependencies of the
// binary.
func describe(info *debug.BuildInfo, sum string) document {
	main := module("application", &info.Main)
	main.Hashes = []hash{{"SHA-256", sum}}
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
	}
	standard := strings.TrimPrefix(strings.Fields(info.GoVersion + " ")[0], "go")
	components := []component{module("library", &debug.Module{Path: "std", Version: standard})}
	for _, m := range info.Deps {
		components = append(components, module("library", m))
	}
	slices.SortFunc(components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	root := dependency{Ref: main.Ref}
	dependencies := []dependency{}
	for _, c := range components {
		root.DependsOn = append(root.DependsOn, c.Ref)
		dependencies = append(dependencies, dependency{Ref: c.Ref})
	}
	return document{
		Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main},
		Components: components, Dependencies: append([]dependency{root}, dependencies...),
	}
}

// module returns the component of a module, with the package URL that vulnerability
// databases use.
func module(kind string, m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	ref := "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version)
	c := component{Type: kind, Ref: ref, Name: m.Path, Version: m.Version, PURL: ref}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
