package page

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
)

// texts are the English texts of pages, each with the file that has it. They are the keys
// of the translations.
type texts map[string]string

// add omits formats that only combine other messages.
func (l texts) add(file string, list ...string) {
	for _, text := range list {
		if strings.Trim(formatVerb.ReplaceAllString(text, ""), " :()") != "" || text == "." {
			l[text] = file
		}
	}
}

// goTexts says where Go code has texts: as an argument of a function or method, by its
// position; as a field of a struct; or as a value in a variable of the package.
type goTexts struct {
	calls  map[string]int
	fields []string
	tables []string
}

// apiOnly are the codes of errors that no page shows.
var apiOnly = []string{"fault.InvalidGrant", "fault.IdempotencyKeyReused"}

// addGo collects the string literals in these places. Every place must have one.
func (l texts) addGo(t *testing.T, files string, in goTexts) {
	t.Helper()
	found := map[string]bool{}
	for _, file := range sourceFiles(t, files) {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		take := func(place string, node ast.Expr) {
			if text, ok := stringLiteral(node); ok {
				found[place] = true
				l.add(file, text)
			}
		}
		ast.Inspect(tree, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.CallExpr:
				name := calledName(n.Fun)
				if at, ok := in.calls[name]; ok && at < len(n.Args) && !(name == "fault.New" && slices.Contains(apiOnly, calledName(n.Args[0]))) {
					take(name, n.Args[at])
				}
			case *ast.KeyValueExpr:
				if name, ok := n.Key.(*ast.Ident); ok && slices.Contains(in.fields, name.Name) {
					take(name.Name, n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && i < len(n.Rhs) && slices.Contains(in.fields, s.Sel.Name) {
						take(s.Sel.Name, n.Rhs[i])
					}
				}
			case *ast.ValueSpec:
				if name := n.Names[0].Name; slices.Contains(in.tables, name) {
					for _, value := range tableValues(n.Values) {
						take(name, value)
					}
				}
			}
			return true
		})
	}
	for _, place := range in.tables {
		if !found[place] {
			t.Errorf("%s: no texts found in %s", files, place)
		}
	}
	if len(found) == 0 {
		t.Errorf("%s: no texts found", files)
	}
}

func stringLiteral(node ast.Expr) (string, bool) {
	literal, ok := node.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// calledName is the name of a function: fault.New, and T of p.T or p.layout.T.
func calledName(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if p, ok := f.X.(*ast.Ident); ok && p.Name == "fault" {
			return "fault." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}

// tableValues are the members of a list or map, or of the structs in it.
func tableValues(values []ast.Expr) []ast.Expr {
	var list []ast.Expr
	for _, value := range values {
		switch v := value.(type) {
		case *ast.CompositeLit:
			list = append(list, tableValues(v.Elts)...)
		case *ast.KeyValueExpr:
			list = append(list, tableValues([]ast.Expr{v.Value})...)
		default:
			list = append(list, v)
		}
	}
	return list
}

// addTemplates collects the texts that templates pass to the methods.
func (l texts) addTemplates(t *testing.T, files string, methods ...string) {
	t.Helper()
	for _, file := range sourceFiles(t, files) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree := parse.New(file)
		tree.Mode = parse.SkipFuncCheck
		trees := map[string]*parse.Tree{}
		if _, err := tree.Parse(string(content), "", "", trees); err != nil {
			t.Fatal(err)
		}
		for _, one := range trees {
			walkCommands(one.Root, func(command *parse.CommandNode) {
				var path []string
				switch first := command.Args[0].(type) {
				case *parse.FieldNode:
					path = first.Ident
				case *parse.VariableNode:
					path = first.Ident
				case *parse.ChainNode:
					path = first.Field
				}
				if len(command.Args) < 2 || len(path) == 0 || !slices.Contains(methods, path[len(path)-1]) {
					return
				}
				if text, ok := command.Args[1].(*parse.StringNode); ok {
					l.add(file, text.Text)
				}
			})
		}
	}
}

// walkCommands visits every call in a template, also those inside of others.
func walkCommands(node parse.Node, visit func(*parse.CommandNode)) {
	branch := func(b *parse.BranchNode) {
		walkCommands(b.Pipe, visit)
		walkCommands(b.List, visit)
		if b.ElseList != nil {
			walkCommands(b.ElseList, visit)
		}
	}
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			walkCommands(child, visit)
		}
	case *parse.ActionNode:
		walkCommands(n.Pipe, visit)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			walkCommands(n.Pipe, visit)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			walkCommands(command, visit)
		}
	case *parse.CommandNode:
		visit(n)
		for _, arg := range n.Args {
			walkCommands(arg, visit)
		}
	case *parse.ChainNode:
		walkCommands(n.Node, visit)
	}
}

// scriptText matches a text in a script. The builder page finds the translations for its
// scripts in the same way.
var scriptText = regexp.MustCompile(`\bt\(("(?:[^"\\]|\\.)*")`)

// addScripts collects the texts of scripts.
func (l texts) addScripts(t *testing.T, files string) {
	t.Helper()
	for _, file := range sourceFiles(t, files) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scriptText.FindAllSubmatch(content, -1) {
			text, err := strconv.Unquote(string(m[1]))
			if err != nil {
				t.Fatalf("%s: %s: %v", file, m[1], err)
			}
			l.add(file, text)
		}
	}
}

// webPackages are the folders of package web and of the packages below it, relative to
// that of package web.
func webPackages(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{"."}
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	if len(folders) < 6 {
		t.Fatalf("only these packages found: %v", folders)
	}
	return folders
}

// sourceFiles are the files that match, without tests.
func sourceFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no such files (%v)", pattern, err)
	}
	return files
}

// Messages must keep their format: a literal with a text that is already rendered cannot be
// translated.
func TestMessagesHaveFormats(t *testing.T) {
	var goFiles []string
	for _, folder := range webPackages(t) {
		goFiles = append(goFiles, "../"+folder+"/*.go")
	}
	for _, files := range append(goFiles, "../../form/*.go", "../../account/*.go", "../../store/*.go", "../../db/*.go", "../../respond/*.go", "../../webhook/*.go", "../../delivery/*.go") {
		for _, file := range sourceFiles(t, files) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(content, []byte("fault.")) {
				continue
			}
			positions := token.NewFileSet()
			tree, err := parser.ParseFile(positions, file, content, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(node ast.Node) bool {
				literal, ok := node.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if name, ok := literal.Type.(*ast.SelectorExpr); !ok || calledName(name) != "fault.Error" && calledName(name) != "fault.Detail" {
					return true
				}
				for _, element := range literal.Elts {
					if pair, ok := element.(*ast.KeyValueExpr); ok {
						if _, rendered := stringLiteral(pair.Value); rendered {
							t.Errorf("%s: use fault.New or fault.NewDetail", positions.Position(pair.Pos()))
						}
					}
				}
				return true
			})
		}
	}
}
