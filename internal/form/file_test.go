package form

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
)

const (
	fileA = "fil_01kgd4rh5vf69b91fnpw8qc2zt"
	fileB = "fil_01kgd4rh5vf69b91fnpw8qc2zv"
	fileC = "fil_01kgd4rh5vf69b91fnpw8qc2zw"
)

const withFiles = `{"fields": [
	{"kind": "file", "key": "cv", "accept": ["pdf"], "max_files": 2, "max_size_mb": 3},
	{"kind": "file", "key": "photo"}, {"kind": "signature", "key": "sign"},
	{"kind": "calculated", "key": "count", "expression": "len(cv)"}
]}`

func TestFileAnswers(t *testing.T) {
	d := define(t, withFiles)
	stored := map[string]any{"id": fileA, "name": "a.pdf", "size": 5.0, "type": "application/pdf"}
	for _, c := range []struct {
		key         string
		value, want any // want nil: an error
	}{
		{"cv", []any{fileA, fileB}, []File{{ID: fileA}, {ID: fileB}}},
		{"cv", []any{fileA, fileA}, []File{{ID: fileA}}},
		{"cv", []any{stored}, []File{{fileA, "a.pdf", 5, "application/pdf"}}},
		{"cv", []any{fileA, fileB, fileC}, nil},
		{"cv", []any{"fil_short"}, nil},
		{"cv", []any{strings.ToUpper(fileA)}, nil},
		{"cv", []any{map[string]any{"name": "a.pdf"}}, nil},
		{"cv", fileA, nil},
		{"photo", []any{fileA, fileB}, nil},
		{"sign", " Ada Lovelace ", "Ada Lovelace"},
		{"sign", []any{fileA}, []File{{ID: fileA}}},
		{"sign", []any{fileA, fileB}, nil},
		{"sign", fileA, nil},
		{"sign", strings.Repeat("x", 201), nil},
		{"sign", "a\nb", nil},
		{"sign", 1.0, nil},
	} {
		got, err := d.check(map[string]any{c.key: c.value})
		if c.want == nil {
			if e := fault.Wrap(err); err == nil || e.Code != fault.Invalid || e.Details[0].Field != c.key {
				t.Errorf("%s: %v is accepted as %v (%v)", c.key, c.value, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got[c.key], c.want) {
			t.Errorf("%s: %v is %v, want %v (%v)", c.key, c.value, got[c.key], c.want, err)
		}
	}
	got, err := d.check(map[string]any{"cv": []any{fileA, fileB}})
	if err != nil || got["count"] != 2.0 {
		t.Errorf("a formula counts %v files (%v)", got["count"], err)
	}
}

func TestFileRules(t *testing.T) {
	d := define(t, withFiles)
	for key, want := range map[string]FileRules{
		"cv": {[]string{"pdf"}, 2, 3 << 20}, "photo": {nil, 1, 10 << 20}, "sign": {[]string{"image"}, 1, 1 << 20},
	} {
		if got, ok := d.Field(key).FileRules(); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
	if _, ok := d.Field("count").FileRules(); ok {
		t.Error("a calculation has rules for files")
	}
	if !d.HasFiles() || define(t, `{"fields": [{"kind": "email"}]}`).HasFiles() {
		t.Error("HasFiles is wrong")
	}
}

// What the page posts about files: the IDs so far, and those to remove.
func TestFileForm(t *testing.T) {
	d := define(t, withFiles)
	known := File{fileB, "b | c.pdf", 7, "application/pdf"}
	file := func(f File) any {
		return map[string]any{"id": f.ID, "name": f.Name, "size": float64(f.Size), "type": f.Type}
	}
	a, b := file(File{ID: fileA}), file(known)
	for _, c := range []struct {
		in   url.Values
		want map[string]any
	}{
		{url.Values{"cv": {fileA, "", known.FormValue()}, "cv.remove": {fileA}}, map[string]any{"cv": []any{b}}},
		{url.Values{"cv": {known.FormValue()}, "cv.remove": {fileB}}, map[string]any{}},
		{url.Values{"cv": {"C:\\fakepath\\a.pdf", fileB + "|x|y|z", fileB + "|1|y"}}, map[string]any{}},
		{url.Values{"sign": {"Ada"}}, map[string]any{"sign": "Ada"}},
		{url.Values{"sign": {fileA, known.FormValue(), ""}}, map[string]any{"sign": []any{b}}},
		{url.Values{"sign": {fileA, "Ada"}}, map[string]any{"sign": []any{a}}},
		{url.Values{"sign": {fileA, "Ada"}, "sign.remove": {fileA}}, map[string]any{"sign": "Ada"}},
	} {
		if got := d.ParseForm(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

// A submission looks up its files and stores what is known about them, whatever the
// respondent said.
func TestWithFiles(t *testing.T) {
	d := define(t, withFiles)
	sent := map[string]any{"cv": []any{fileB, map[string]any{"id": fileA, "name": "forged", "size": 1.0}}, "sign": "Ada"}
	e, err := d.Validate(sent)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Files(e.Answers), []FileAnswer{{"cv", []string{fileB, fileA}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("files: %v, want %v", got, want)
	}
	answers := d.WithFiles(e.Answers, map[string]File{fileB: {fileB, "b.pdf", 7, "application/pdf"}})
	encoded, err := d.Encode(answers)
	want := `{"cv":[{"id":"` + fileB + `","name":"b.pdf","size":7,"type":"application/pdf"},{"id":"` + fileA + `","name":"","size":0,"type":""}],"sign":"Ada","count":2}`
	if err != nil || string(encoded) != want {
		t.Errorf("stored as %s, want %s (%v)", encoded, want, err)
	}
	again, err := Response{JSON: string(encoded)}.Answers()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := d.Revalidate(again); err != nil || !reflect.DeepEqual(e.Answers, answers) {
		t.Errorf("stored answers are not accepted again: %v (%v)", e.Answers, err)
	}
	column := Columns([]*Definition{d})[0]
	if got := column.Cell(d.Field("cv"), again, false); got != "b.pdf; "+fileA {
		t.Errorf("in an export: %v", got)
	}
	if got := d.Field("cv").FormatAnswer(again["cv"], func(s string) string { return s }); got != "b.pdf, "+fileA {
		t.Errorf("as text: %v", got)
	}
	s := NewSummary()
	s.Add(d, again, time.Now(), 1)
	if q := s.Fields[d.Field("cv").ID]; q.Answered != 1 || q.Files != 2 || q.Bytes != 7 {
		t.Errorf("summary: %+v", q)
	}
}

func TestPictures(t *testing.T) {
	d := define(t, `{"fields": [{"kind": "email"}, {"kind": "picture_choice", "key": "dish", "options": [
		{"value": "a", "image": "`+fileA+`", "alt": " A pie "}, {"value": "b", "image": "`+fileA+`"}, {"value": "c"}]}]}`)
	if got := d.Pictures(); len(got) != 2 || got[0] != (PictureUse{"fields.1.options.0.image", fileA}) {
		t.Errorf("pictures: %v", got)
	}
	if d.Fields[1].Options[0].Alt != "A pie" {
		t.Error("the alternative text has spaces around it")
	}
	var missing []string
	for _, detail := range fault.Wrap(d.CheckPublish()).Details {
		missing = append(missing, detail.Field)
	}
	if want := []string{"fields.1.options.1.alt", "fields.1.options.2.image"}; !reflect.DeepEqual(missing, want) {
		t.Errorf("missing: %v, want %v", missing, want)
	}
	dish := d.Field("dish")
	if dish.IsList() || dish.jsonType() != "string" {
		t.Error("one choice is a list")
	}
	if got, err := d.check(map[string]any{"dish": "a"}); err != nil || got["dish"] != "a" {
		t.Errorf("one choice: %v (%v)", got, err)
	}
	if _, err := d.check(map[string]any{"dish": []any{"a"}}); err == nil {
		t.Error("a list is accepted as one choice")
	}
	text, err := json.Marshal(d.Schema())
	if err != nil || !strings.Contains(string(text), `"enum":["a","b","c"]`) {
		t.Errorf("schema: %s (%v)", text, err)
	}
}
