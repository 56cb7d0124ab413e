package api

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
)

var plainSeeds = []string{
	`{"answers": {"name": "Ada Lovelace", "mail": "ada@example.com", "score": 9, "size": "medium", "remark": "On Tuesday, if you can."}}`,
	`{"answers":{"a":-0.5,"b":0,"c":[true,false,null],"d":{"e":["x","y"],"f":{}},"":[]}}`,
	" {\n\t\"answers\" :\r{ \"größe\" : \"für 10 €\" } } \n",
	`{"answers":{}}`,
}

var notPlainSeeds = []string{
	``, ` `, `{}`, `[]`, `null`, `{"answers"}`, `{"answers":null}`, `{"answers":[1]}`, `{"answers":{"n":1,"n":2}}`, `{"answers":{"n":1}`,
	`{"answers":{"n":1}}}`, `{"answers":{"n":1}} 1`, `{"answers":{"n":1},"x":2}`, `{"x":1,"answers":{}}`, `{"Answers":{}}`,
	`{"answers":{"n":01}}`, `{"answers":{"n":-}}`, `{"answers":{"n":1.}}`, `{"answers":{"n":.5}}`, `{"answers":{"n":+1}}`, `{"answers":{"n":1e3}}`,
	`{"answers":{"n":1e400}}`, `{"answers":{"n":0x1}}`, `{"answers":{"n":truely}}`, `{"answers":{"n":nul}}`, `{"answers":{"n":NaN}}`, `{"answers":{"n":1,}}`,
	`{"answers":{,"n":1}}`, `{"answers":{"n" 1}}`, `{"answers":{n:1}}`, `{"answers":{"n":[1,]}}`, `{"answers":{"n":[,1]}}`, `{"answers":{"n":[1 2]}}`,
	`{"answers":{"n":"\u00e4"}}`, `{"answers":{"n":"a\"b"}}`, `{"answers":{"n":"x`, "{\"answers\":{\"n\":\"\x01\"}}", "{\"answers\":{\"n\":\"\xff\"}}",
	`{"answers":{"n":[[[[[[[[[[[[[1]]]]]]]]]]]]]}}`, `{"answers":{"n":{"m":1,"m":1}}}`, "\ufeff{\"answers\":{}}",
}

// What is read plainly is what the library reads; what is unusual is left to it.
func TestPlain(t *testing.T) {
	for _, text := range plainSeeds {
		if !new(Submission).readPlain(text) {
			t.Errorf("%s is not read", text)
		}
		asTheLibrary(t, text)
	}
	for _, text := range notPlainSeeds {
		if s := new(Submission); s.readPlain(text) || s.Answers != nil {
			t.Errorf("%s is read as %v", text, s.Answers)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range append(plainSeeds, notPlainSeeds...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { asTheLibrary(t, text) })
}

func asTheLibrary(t *testing.T, text string) {
	t.Helper()
	var got, want Submission
	if !got.readPlain(text) {
		return
	}
	if err := json.Unmarshal([]byte(text), &want, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%q is read as %#v, and is wrong: %v", text, got, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as %#v, want %#v", text, got, want)
	}
}

func BenchmarkPlain(b *testing.B) {
	text := []byte(plainSeeds[0])
	for b.Loop() {
		if err := parseBody(text, new(Submission)); err != nil {
			b.Fatal(err)
		}
	}
}
