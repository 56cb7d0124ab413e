package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Note is a remark about a response, for the people who work with it.
type Note struct {
	ID        string    `json:"id" example:"nte_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	AuthorID  string    `json:"author_id" doc:"The user who wrote it" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Text      string    `json:"text" example:"Call back on Monday"`
	CreatedAt Timestamp `json:"created_at"`
	UpdatedAt Timestamp `json:"updated_at"`
}

// NoteList has all notes of a response.
type NoteList struct {
	TotalItems int64  `json:"total_items" doc:"Total number of notes" example:"1"`
	TotalPages int64  `json:"total_pages" doc:"1, or 0 if there are no notes" example:"1"`
	Data       []Note `json:"data" nullable:"false"`
}

func noteResult(n store.Note) *Note {
	return &Note{n.ID, n.Author, n.Text, Timestamp(n.CreatedAt), Timestamp(n.UpdatedAt)}
}

const notesPath = "/api/v1/forms/{id}/responses/{response}/notes"

func (in responseInput) key() store.ResponseKey {
	return store.ResponseKey{FormID: in.ID, ID: in.Response}
}

func (a *API) listNotes() typedOperation[*responseInput, *NoteList] {
	return typedOperation[*responseInput, *NoteList]{
		operation{
			Method: "GET", Path: notesPath, ID: "listNotes", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "List notes",
			Description: "Returns all notes of a response, the oldest first. There are at most 100.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *responseInput) (*NoteList, reply, error) {
			list, err := a.Store.Notes(ctx, c.Owner(), in.key())
			out := &NoteList{TotalItems: int64(len(list)), TotalPages: min(1, int64(len(list))), Data: make([]Note, len(list))}
			for i, n := range list {
				out.Data[i] = *noteResult(n)
			}
			return out, reply{}, err
		},
	}
}

// NoteText is the text of a note.
type NoteText struct {
	Text string `json:"text" minLength:"1" maxLength:"5000" example:"Call back on Monday"`
}

type createNoteInput struct {
	responseInput
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body create one note."`
	Sent string
	Body NoteText
}

func (a *API) createNote() typedOperation[*createNoteInput, *Note] {
	return typedOperation[*createNoteInput, *Note]{
		operation{
			Method: "POST", Path: notesPath, ID: "createNote", Tag: "Responses", Status: 201, MaxBody: maxWebhook,
			Scope:       account.ResponsesWrite,
			Summary:     "Add a note",
			Description: "Adds a note to a response. Respondents never see it. A response has at most 100 notes.",
			Errors:      []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *createNoteInput) (*Note, reply, error) {
			// Somebody else's response is not there, whatever the body says.
			if _, err := a.Store.Response(ctx, c.Owner(), in.ID, in.Response); err != nil {
				return nil, reply{}, err
			}
			once := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("note " + in.ID + " " + in.Response + " " + in.Sent)}
			n, err := a.Store.AddNote(ctx, c.Owner(), in.key(), store.NewNote{Author: c.User.ID, Text: in.Body.Text, Key: once}, a.Now())
			return noteResult(n), reply{}, err
		},
	}
}

type noteInput struct {
	responseInput
	Note string `path:"note" doc:"Note ID" example:"nte_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

type changeNoteInput struct {
	noteInput
	Body NoteText
}

func (a *API) changeNote() typedOperation[*changeNoteInput, *Note] {
	return typedOperation[*changeNoteInput, *Note]{
		operation{
			Method: "PATCH", Path: notesPath + "/{note}", ID: "changeNote", Tag: "Responses", Status: 200, MaxBody: maxWebhook,
			Scope:       account.ResponsesWrite,
			Summary:     "Update a note",
			Description: "Replaces the text of a note.",
			Errors:      []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeNoteInput) (*Note, reply, error) {
			// Somebody else's response is not there, whatever the body says.
			if _, err := a.Store.Response(ctx, c.Owner(), in.ID, in.Response); err != nil {
				return nil, reply{}, err
			}
			n, err := a.Store.UpdateNote(ctx, c.Owner(), in.key(), store.NoteChange{ID: in.Note, Text: in.Body.Text}, a.Now())
			return noteResult(n), reply{}, err
		},
	}
}

func (a *API) deleteNote() typedOperation[*noteInput, *empty] {
	return typedOperation[*noteInput, *empty]{
		operation{
			Method: "DELETE", Path: notesPath + "/{note}", ID: "deleteNote", Tag: "Responses", Status: 204,
			Scope:       account.ResponsesWrite,
			Summary:     "Delete a note",
			Description: "Deletes a note. This cannot be undone.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *noteInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteNote(ctx, c.Owner(), in.key(), in.Note)
		},
	}
}
