package delivery

import (
	"context"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/store"
)

// Requests have the addresses of files.
func TestFilesInBody(t *testing.T) {
	const file = "fil_01kgd4rh5vf69b91fnpw8qc2zt"
	r := form.Response{ID: "rsp_1", FormID: "frm_1", JSON: `{"cv":[{"id":"` + file + `","name":"a","size":1,"type":"x"}]}`, Metadata: "{}"}
	c := Config{BaseURL: "https://forms.example.com"}
	body, err := c.buildBody(context.Background(), "usr_1", formData{ID: "frm_1"}, store.Event{Kind: store.ResponseCreated, ResponseID: "rsp_1"}, &r)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"url":"https://forms.example.com/api/v1/forms/frm_1/files/` + file + `"`; !strings.Contains(string(body), want) {
		t.Errorf("%s is not in %s", want, body)
	}
}
