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

// allowedImports lists, for each package, the packages of this module that it may import,
// relative to internal/. Requests pass through them in one direction, so there are no
// cycles, and a package that is not listed cannot be reached.
var allowedImports = map[string][]string{
	".":                        {"cli"},
	"internal/cli":             {"account", "api", "blob", "delivery", "export", "fault", "file", "form", "id", "limit", "live", "locale", "mail", "oauth", "outbox", "respond", "scan", "server", "store", "web", "web/reference", "web/workspace", "webhook"},
	"internal/cli/clitest":     {"account", "cli", "store/storetest"},
	"internal/server":          {"fault", "limit"},
	"internal/api":             {"account", "compress", "delivery", "download", "export", "fault", "file", "form", "id", "limit", "live", "media", "oauth", "outbox", "respond", "store"},
	"internal/web":             {"account", "compress", "delivery", "fault", "file", "id", "limit", "live", "oauth", "outbox", "respond", "store", "web/identity", "web/page", "web/public", "web/reference", "web/workspace"},
	"internal/web/identity":    {"account", "fault", "form", "id", "limit", "locale", "mail", "oauth", "outbox", "store", "web/page"},
	"internal/web/page":        {"account", "compress", "fault", "form", "locale", "store", "theme"},
	"internal/web/public":      {"card", "compress", "fault", "form", "limit", "locale", "markdown", "media", "respond", "store", "theme", "web/page"},
	"internal/web/reference":   {"account", "fault", "form", "web/page"},
	"internal/web/workspace":   {"account", "card", "chart", "delivery", "download", "export", "fault", "file", "form", "id", "limit", "live", "locale", "mail", "media", "outbox", "store", "theme", "web/page", "webhook"},
	"internal/respond":         {"account", "fault", "file", "form", "limit", "store"},
	"internal/file":            {"blob", "export", "fault", "form", "id", "limit", "media", "store"},
	"internal/oauth":           {"account", "fault", "limit", "store"},
	"internal/delivery":        {"account", "fault", "form", "id", "store", "webhook"},
	"internal/live":            {"fault", "form", "store"},
	"internal/webhook":         {"fault"},
	"internal/blob":            {"fault"},
	"internal/blob/blobtest":   {"blob"},
	"internal/media":           {},
	"internal/scan":            {},
	"internal/scan/scantest":   {},
	"internal/store":           {"account", "db", "fault", "form", "id"},
	"internal/store/storetest": {"db/dbtest", "store"},
	"internal/db":              {"fault"},
	"internal/db/dbtest":       {"db"},
	"internal/card":            {"media", "theme"},
	"internal/chart":           {"form"},
	"internal/export":          {"form"},
	"internal/form":            {"fault", "theme"},
	"internal/account":         {"fault", "id"},
	"internal/mail":            {"form", "locale", "theme"},
	"internal/mail/mailtest":   {},
	"internal/outbox":          {"account", "fault", "form", "id", "locale", "mail", "markdown", "store"},
	"internal/locale":          {"fault", "form"},
	"internal/markdown":        {},
	"internal/id":              {},
	"internal/theme":           {},
	"internal/limit":           {},
	"internal/compress":        {},
	"internal/download":        {"fault"},
	"internal/fault":           {},
	"bench":                    {"account", "form", "id", "store"},
	"scripts/sbom":             {},
	"scripts/vet":              {},
}

// libraryUsers lists the packages that may import a library.
var libraryUsers = map[string][]string{
	"net/http": {
		"cli", "cli/clitest", "server", "api", "compress", "download", "live", "webhook", "bench", "blob",
		"web", "web/identity", "web/page", "web/public", "web/reference", "web/workspace",
	},
	"html/template":                 {"mail", "markdown", "web/identity", "web/page", "web/public", "web/reference", "web/workspace"},
	"github.com/ncruces/go-sqlite3": {"db"},
	"github.com/jackc/pgx/v5":       {"db", "db/dbtest", "bench"},
	"database/sql":                  {},
	"github.com/alecthomas/kong":    {"cli"},
	"github.com/danielgtaylor/huma": {"api"},
	"code.dny.dev/ssrf":             {"webhook"},
	"github.com/wneessen/go-mail":   {"mail"},
	"github.com/minio/minio-go":     {"blob"},
	"github.com/gabriel-vasile":     {"media"},
	"golang.org/x/image":            {"card", "media"},
	"github.com/emersion/go-smtp":   {"mail/mailtest", "bench"},
}

func TestImports(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && err == nil && path != "." {
			return filepath.SkipDir // another module
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		found[folder] = true
		if _, ok := allowedImports[folder]; !ok {
			t.Errorf("package %s is not in allowedImports", folder)
			return nil
		}
		return checkImports(t, path, folder)
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range allowedImports {
		if !found[folder] {
			t.Errorf("package %s is in allowedImports and does not exist", folder)
		}
	}
}

// checkImports checks the imports of one file.
func checkImports(t *testing.T, path, folder string) error {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(name, "formulary/internal/"); ok && !slices.Contains(allowedImports[folder], own) {
			t.Errorf("%s imports %s, which allowedImports does not list", path, own)
		}
		for library, users := range libraryUsers {
			in := name == library || strings.HasPrefix(name, library+"/")
			if in && !slices.Contains(users, strings.TrimPrefix(folder, "internal/")) {
				t.Errorf("%s imports %s, which only %v may import", path, name, users)
			}
		}
	}
	return nil
}
