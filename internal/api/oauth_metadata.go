package api

import (
	"net/http"
	"reflect"
	"slices"

	"formulary/internal/account"
)

// Metadata describes the authorization server (RFC 8414).
type Metadata struct {
	Issuer               string   `json:"issuer" example:"https://forms.example"`
	Authorization        string   `json:"authorization_endpoint" example:"https://forms.example/authorize"`
	Token                string   `json:"token_endpoint" example:"https://forms.example/api/oauth2/token"`
	TokenAuth            []string `json:"token_endpoint_auth_methods_supported" nullable:"false" example:"client_secret_post,client_secret_basic,none"`
	Revocation           string   `json:"revocation_endpoint" example:"https://forms.example/api/oauth2/revoke"`
	RevocationAuth       []string `json:"revocation_endpoint_auth_methods_supported" nullable:"false" example:"client_secret_post,client_secret_basic,none"`
	Introspection        string   `json:"introspection_endpoint" example:"https://forms.example/api/oauth2/introspect"`
	IntrospectionAuth    []string `json:"introspection_endpoint_auth_methods_supported" nullable:"false" example:"client_secret_post,client_secret_basic"`
	Scopes               []string `json:"scopes_supported" nullable:"false" example:"forms:read,forms:write"`
	ResponseTypes        []string `json:"response_types_supported" nullable:"false" example:"code"`
	ResponseModes        []string `json:"response_modes_supported" nullable:"false" example:"query"`
	GrantTypes           []string `json:"grant_types_supported" nullable:"false" example:"authorization_code,refresh_token"`
	CodeChallengeMethods []string `json:"code_challenge_methods_supported" nullable:"false" example:"S256"`
	ServiceDocumentation string   `json:"service_documentation" example:"https://forms.example/docs/api"`
}

func (a *API) metadata() *operation {
	return &operation{
		Method: "GET", Path: "/.well-known/oauth-authorization-server", ID: "metadata", Tag: "OAuth 2.0", Open: true, Status: 200,
		Summary: "Get authorization server metadata", Description: "RFC 8414.",
		CORS: true, output: reflect.TypeFor[Metadata](),
		serve: func(a *API, w http.ResponseWriter, r *http.Request) error {
			withSecret := []string{"client_secret_post", "client_secret_basic"}
			anyClient := append(slices.Clone(withSecret), "none")
			var scopes []string
			for _, known := range account.ScopeList {
				scopes = append(scopes, string(known.Scope))
			}
			w.Header().Set("Cache-Control", "no-store")
			writeJSON(w, http.StatusOK, Metadata{
				Issuer:        a.OAuth.Issuer(),
				Authorization: a.BaseURL + "/authorize",
				Token:         a.BaseURL + "/api/oauth2/token", TokenAuth: anyClient,
				Revocation: a.BaseURL + "/api/oauth2/revoke", RevocationAuth: anyClient,
				Introspection: a.BaseURL + "/api/oauth2/introspect", IntrospectionAuth: withSecret,
				Scopes: scopes, ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
				GrantTypes:           []string{"authorization_code", "refresh_token"},
				CodeChallengeMethods: []string{"S256"},
				ServiceDocumentation: a.BaseURL + "/docs/api",
			})
			return nil
		},
	}
}
