package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plan is the house: which of our packages each may import. A request travels
// one way, down; what is not listed here is a door that does not exist.
var plan = map[string][]string{
	".":                        {"cli"},
	"internal/cli":             {"account", "api", "delivery", "export", "fault", "form", "id", "limit", "oauth", "respond", "server", "store", "web", "webhook"},
	"internal/cli/clitest":     {"account", "cli", "store/storetest"},
	"internal/server":          {"fault", "limit"},
	"internal/api":             {"account", "compress", "delivery", "download", "export", "fault", "form", "id", "limit", "oauth", "respond", "store"},
	"internal/web":             {"account", "chart", "compress", "download", "export", "fault", "form", "id", "limit", "oauth", "respond", "store"},
	"internal/respond":         {"account", "fault", "form", "limit", "store"},
	"internal/oauth":           {"account", "fault", "limit", "store"},
	"internal/delivery":        {"account", "fault", "form", "id", "store", "webhook"},
	"internal/webhook":         {"fault"},
	"internal/store":           {"account", "db", "fault", "form", "id"},
	"internal/store/storetest": {"db/dbtest", "store"},
	"internal/db":              {"fault"},
	"internal/db/dbtest":       {"db"},
	"internal/chart":           {"form"},
	"internal/export":          {"form"},
	"internal/form":            {"fault"},
	"internal/account":         {"fault", "id"},
	"internal/id":              {},
	"internal/limit":           {},
	"internal/compress":        {},
	"internal/download":        {},
	"internal/fault":           {},
	"bench":                    {"account", "form", "id", "store"},
	"scripts/sbom":             {},
	"scripts/vet":              {},
}

// outsiders are libraries that belong in one room each.
var outsiders = map[string][]string{
	"net/http":                      {"cli", "cli/clitest", "server", "api", "web", "compress", "download", "webhook", "bench"},
	"github.com/ncruces/go-sqlite3": {"db"},
	"github.com/jackc/pgx/v5":       {"db", "db/dbtest", "bench"},
	"database/sql":                  {},
	"html/template":                 {"web"},
	"github.com/alecthomas/kong":    {"cli"},
	"github.com/danielgtaylor/huma": {"api"},
	"code.dny.dev/ssrf":             {"webhook"},
}

func TestHouse(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && err == nil && path != "." {
			return filepath.SkipDir // a module of its own is another house
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(path))
		seen[room] = true
		allowed, ok := plan[room]
		if !ok {
			t.Errorf("%s: the plan has no such room", room)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(name, "formulary/internal/"); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, which the plan does not allow", path, own)
			}
			for outsider, rooms := range outsiders {
				in := name == outsider || strings.HasPrefix(name, outsider+"/")
				if in && !slices.Contains(rooms, strings.TrimPrefix(room, "internal/")) {
					t.Errorf("%s imports %s, which belongs in %v", path, name, rooms)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range plan {
		if !seen[room] {
			t.Errorf("the plan has %s, the house does not", room)
		}
	}
}
