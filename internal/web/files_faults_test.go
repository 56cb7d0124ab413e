package web_test

import (
	"net/http"
	"strings"
	"testing"

	"formulary/internal/blob/blobtest"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// While S3 fails, the page says that the file could not be saved and keeps the other answers,
// and nothing is half stored. A slow server only takes longer.
func TestStorageFaults(t *testing.T) {
	t.Parallel()
	server := blobtest.StartS3(t)
	proxy := blobtest.StartProxy(t, server.Address)
	c := server.ConfigAt(proxy.Address)
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--files="+c.URL, "--s3-key="+c.Key, "--s3-secret="+c.Secret)
	token, id := publishAsAda(t, s, application)
	file := pdf + strings.Repeat("x", 200_000)
	stored := 0
	for name, fault := range map[string]blobtest.Fault{
		"503":                {Status: http.StatusServiceUnavailable},
		"cut midway":         {CutSent: 100_000},
		"the answer is lost": {CutReceived: 10},
	} {
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		proxy.Set(fault)
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "cv.pdf", content: file})
		r.sees(422, "We couldn’t save this file. Your other answers are still here.", `value="Ada"`, "!Remove cv.pdf")
		if a := uploadTo(t, s, id, file); a.Code() != 503001 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: upload through the API: %d %s", name, a.StatusCode, a.Text)
		}
		proxy.Set(blobtest.Fault{})
		for object, size := range server.Files() {
			if size != int64(len(file)) {
				t.Errorf("%s: object %s has %d bytes of %d", name, object, size, len(file))
			}
		}
		// The same page works once the storage is back.
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "cv.pdf", content: file})
		r.sees(200, "For cv.pdf")
		r.sendParts("next", part{control: "sign", content: "Ada Lovelace"})
		r.sees(303)
		stored++
	}
	proxy.Set(blobtest.Fault{Rate: 400_000})
	if a := uploadTo(t, s, id, file); a.StatusCode != 201 {
		t.Errorf("to a slow server: %d %s", a.StatusCode, a.Text)
	}
	list := s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)
	if len(list) != stored {
		t.Errorf("%d responses are stored, want %d", len(list), stored)
	}
}

// upload uploads a file through the API.
func uploadTo(t *testing.T, s *clitest.Service, form, content string) clitest.Response {
	t.Helper()
	r, err := http.NewRequest("POST", s.URL+"/f/"+form+"/files?field=cv", strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return s.Do(r)
}
