package form

import (
	"bytes"
	"time"
)

// StoredResponse is a response in the memory of the database that read it, to be sent without
// copying it first. Its bytes change when the next row is read.
type StoredResponse struct {
	ID          []byte
	FormID      string
	Version     int64
	SubmittedAt time.Time
	JSON        []byte // answers
	Metadata    []byte // JSON
	Restored    []byte // where it is in the feed since its last restoration; empty: where its ID is
}

// Response returns a copy that stays as it is.
func (r *StoredResponse) Response() Response {
	return Response{ID: string(r.ID), FormID: r.FormID, Version: r.Version, SubmittedAt: r.SubmittedAt, JSON: string(r.JSON), Metadata: string(r.Metadata)}
}

// Clone returns a copy whose bytes stay as they are.
func (r *StoredResponse) Clone() StoredResponse {
	c := *r
	for _, text := range []*[]byte{&c.ID, &c.JSON, &c.Metadata, &c.Restored} {
		*text = bytes.Clone(*text)
	}
	return c
}

// AppendJSON appends what Response.AppendJSON does, with the API address of each file. base is
// the address of the service.
func (r *StoredResponse) AppendJSON(out []byte, base string) []byte {
	// Most answers have no underscore, which is ten times as quick to find out.
	if bytes.IndexByte(r.JSON, '_') >= 0 && bytes.Contains(r.JSON, []byte(fileMark)) {
		return r.Response().WithFileURLs(base).AppendJSON(out)
	}
	out = appendHead(out, r.ID, r.FormID, r.Version, r.SubmittedAt)
	out = append(append(out, `,"answers":`...), r.JSON...)
	out = append(append(out, `,"metadata":`...), r.Metadata...)
	return append(out, '}')
}
