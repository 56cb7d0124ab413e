package form

import "testing"

func TestFileURLs(t *testing.T) {
	const base, formID = "https://forms.example.com", "frm_01kgd4rh5vf69b91fnpw8qc2zt"
	url := `,"url":"` + base + "/api/v1/forms/" + formID + "/files/"
	for _, c := range []struct{ stored, want string }{
		{`{}`, `{}`},
		{`{"a":"x"}`, `{"a":"x"}`},
		// as SQLite and PostgreSQL store it
		{`{"cv":[{"id":"` + fileA + `","name":"a}\"{.pdf","size":7,"type":"x"},{"id":"` + fileB + `","name":"","size":0,"type":""}]}`,
			`{"cv":[{"id":"` + fileA + `","name":"a}\"{.pdf","size":7,"type":"x"` + url + fileA + `"},{"id":"` + fileB + `","name":"","size":0,"type":""` + url + fileB + `"}]}`},
		{`{"cv": [{"id": "` + fileA + `", "name": "a", "size": 7, "type": "x"}, {"id": "` + fileB + `"}]}`,
			`{"cv": [{"id": "` + fileA + `", "name": "a", "size": 7, "type": "x"` + url + fileA + `"}, {"id": "` + fileB + `"` + url + fileB + `"}]}`},
		// what looks similar
		{`{"a":"[{\"id\":\"` + fileA + `\"}]"}`, `{"a":"[{\"id\":\"` + fileA + `\"}]"}`},
		{`{"a":"fil_"}`, `{"a":"fil_"}`},
		{`{"a":["` + fileA + `"]}`, `{"a":["` + fileA + `"]}`},
		{`{"matrix":{"id":"` + fileA + `"}}`, `{"matrix":{"id":"` + fileA + `"}}`},
		{`{"a":"` + fileA, `{"a":"` + fileA},
	} {
		if got := (Response{FormID: formID, JSON: c.stored}).WithFileURLs(base).JSON; got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.stored, got, c.want)
		}
	}
}
