package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Receipt is the mail that respondents get.
type Receipt struct {
	Active  bool   `json:"active" doc:"Whether it is sent"`
	Field   string `json:"field" doc:"Key of the email question whose answer is the address. Required if active." example:"email"`
	Subject string `json:"subject" maxLength:"200" doc:"Subject, with answers inserted as {{key}}; empty: one in the language of the form" example:"We got your order, {{name}}"`
	Text    string `json:"text" maxLength:"10000" doc:"Markdown, with answers inserted as {{key}}" example:"Thank you! We will write to you **soon**."`
	Answers bool   `json:"answers" doc:"Whether a copy of the answers follows the text"`
}

func receiptResult(r store.Receipt) *Receipt {
	return &Receipt{Active: r.Active, Field: r.Field, Subject: r.Subject, Text: r.Text, Answers: r.Answers}
}

func (a *API) readReceipt() typedOperation[*formInput, *Receipt] {
	return typedOperation[*formInput, *Receipt]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/receipt", ID: "readReceipt", Tag: "Email", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get the receipt",
			Description: "Returns the email that respondents get after submitting the form.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*Receipt, reply, error) {
			r, err := a.Store.Receipt(ctx, c.Owner(), in.ID)
			return receiptResult(r), reply{}, err
		},
	}
}

// NewReceipt is a receipt as it is sent to the API; what is left out is off or empty.
type NewReceipt struct {
	Active  bool   `json:"active,omitempty" doc:"Whether it is sent"`
	Field   string `json:"field,omitempty" doc:"Key of the email question whose answer is the address. Required if active." example:"email"`
	Subject string `json:"subject,omitempty" maxLength:"200" doc:"Subject, with answers inserted as {{key}}; empty: one in the language of the form" example:"We got your order, {{name}}"`
	Text    string `json:"text,omitempty" maxLength:"10000" doc:"Markdown, with answers inserted as {{key}}" example:"Thank you! We will write to you **soon**."`
	Answers bool   `json:"answers,omitempty" doc:"Whether a copy of the answers follows the text"`
}

type setReceiptInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Body NewReceipt
}

func (a *API) setReceipt() typedOperation[*setReceiptInput, *Receipt] {
	return typedOperation[*setReceiptInput, *Receipt]{
		operation{
			Method: "PUT", Path: "/api/v1/forms/{id}/receipt", ID: "setReceipt", Tag: "Email", Status: 200, MaxBody: maxMail,
			Scope:   account.FormsWrite,
			Summary: "Replace the receipt",
			Description: "Changes the email that respondents get from now on. An address gets at most 5 receipts of a form per hour. " +
				"Respondents can reply to the owner, whose email address must be confirmed.",
			Errors: []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *setReceiptInput) (*Receipt, reply, error) {
			r := store.Receipt{Active: in.Body.Active, Field: in.Body.Field, Subject: in.Body.Subject, Text: in.Body.Text, Answers: in.Body.Answers}
			if err := a.Mails.SetReceipt(ctx, c.Owner(), in.ID, store.ReceiptChange{Receipt: r}); err != nil {
				return nil, reply{}, err
			}
			return receiptResult(r), reply{}, nil
		},
	}
}
