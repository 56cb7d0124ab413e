package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/oauth"
)

// User is the user of a token, with information about the token.
type User struct {
	ID            string    `json:"id" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Email         string    `json:"email" format:"email" example:"ada@example.com"`
	EmailVerified bool      `json:"email_verified" doc:"Whether the user has confirmed the email address" example:"true"`
	Name          string    `json:"name" example:"Ada"`
	Language      string    `json:"language" doc:"Language (BCP 47 tag)" example:"en"`
	CreatedAt     Timestamp `json:"created_at"`
	Scope         string    `json:"scope" doc:"Scopes of this token, separated by commas" example:"forms:read,responses:read"`
	Space         UserSpace `json:"space" doc:"The space that this token is for"`
	Forms         string    `json:"forms" enum:"all,some" doc:"Whether this token is for all forms of the space or for some of them" example:"all"`
	// One of the two.
	Application   *Application   `json:"application,omitempty" doc:"The application this token was issued to"`
	PersonalToken *PersonalToken `json:"personal_token,omitempty" doc:"This token, if the user created it as a personal token"`
}

// UserSpace is a space, with the role of the user in it.
type UserSpace struct {
	ID   string       `json:"id" example:"spc_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name string       `json:"name" doc:"Name of the space; for the user's own, their name" example:"Marketing team"`
	Role account.Role `json:"role" enum:"owner,editor,viewer,guest" example:"owner"`
}

// PersonalToken is a token that a user created for scripts.
type PersonalToken struct {
	Name      string    `json:"name" example:"Nightly export"`
	ExpiresAt Timestamp `json:"expires_at"`
}

// Application is the application that a token was issued to.
type Application struct {
	ClientID string `json:"client_id" example:"app_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name     string `json:"name" example:"Reports"`
}

func (a *API) me() typedOperation[*empty, *User] {
	return typedOperation[*empty, *User]{
		operation{
			Method: "GET", Path: "/api/v1/me", ID: "me", Tag: "Account", Status: 200,
			Summary:     "Get the current user",
			Description: "Returns the user, the scopes of the token, and the space and forms that it is for. Works with any scope.",
		},
		func(ctx context.Context, c *oauth.Principal, _ *empty) (*User, reply, error) {
			if c.Owner() != c.User.ID {
				// Not from the cache, which does not follow changes of the space.
				space, err := a.Store.Space(ctx, c.Owner())
				return newUser(c, space.Name), reply{}, err
			}
			holder := [2]string{c.User.ID, c.Token}
			rendered, ok := a.users.GetAt(c.Generation, holder)
			if !ok {
				rendered.Body = encode(newUser(c, c.User.Name))
				a.users.Put(holder, c.Generation, rendered, int64(len(rendered.Body)+pageOverhead))
			}
			return nil, rendered, nil
		},
	}
}

// newUser describes the user of a token, and the token.
func newUser(c *oauth.Principal, space string) *User {
	u := &User{
		ID: c.User.ID, Email: c.User.Email, EmailVerified: c.User.IsEmailVerified(), Name: c.User.Name, Language: c.User.Language,
		CreatedAt: Timestamp(c.User.CreatedAt), Scope: c.Scopes.String(),
		Space: UserSpace{account.SpaceID(c.Owner()), space, c.Access.Role}, Forms: "all",
	}
	if c.Access.Forms != nil {
		u.Forms = "some"
	}
	if c.Personal != "" {
		u.PersonalToken = &PersonalToken{c.Personal, Timestamp(c.ExpiresAt)}
	} else {
		u.Application = &Application{c.App.ID, c.App.Name}
	}
	return u
}
