package api

import (
	"context"

	"formulary/internal/oauth"
)

// User is the user of a token, with information about the token.
type User struct {
	ID            string      `json:"id" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Email         string      `json:"email" format:"email" example:"ada@example.com"`
	EmailVerified bool        `json:"email_verified" doc:"Whether the user has confirmed the email address" example:"true"`
	Name          string      `json:"name" example:"Ada"`
	Language      string      `json:"language" doc:"Language (BCP 47 tag)" example:"en"`
	CreatedAt     Timestamp   `json:"created_at"`
	Scope         string      `json:"scope" doc:"Scopes of this token, separated by commas" example:"forms:read,responses:read"`
	Application   Application `json:"application" doc:"The application this token was issued to"`
}

// Application is the application that a token was issued to.
type Application struct {
	ClientID string `json:"client_id" example:"app_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name     string `json:"name" example:"Reports"`
}

func (a *API) me() typedOperation[empty, User] {
	return typedOperation[empty, User]{
		operation{
			Method: "GET", Path: "/api/v1/me", ID: "me", Tag: "Account", Status: 200,
			Summary:     "Get the current user",
			Description: "Returns the user and the scopes of the token. Works with any scope.",
		},
		func(_ context.Context, c *oauth.Principal, _ *empty) (*User, reply, error) {
			holder := [2]string{c.User.ID, c.Token}
			rendered, ok := a.users.GetAt(c.Generation, holder)
			if !ok {
				rendered.Body = encode(User{
					ID: c.User.ID, Email: c.User.Email, EmailVerified: c.User.IsEmailVerified(), Name: c.User.Name, Language: c.User.Language,
					CreatedAt: Timestamp(c.User.CreatedAt), Scope: c.Scopes.String(),
					Application: Application{c.App.ID, c.App.Name},
				})
				a.users.Put(holder, c.Generation, rendered, int64(len(rendered.Body)+pageOverhead))
			}
			return nil, rendered, nil
		},
	}
}
