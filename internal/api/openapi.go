package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/fault"
)

// buildDocument generates the OpenAPI 3.1 document from the types of the operations.
// URLs in it are relative, so that it is the same on every installation.
func buildDocument(operations []*operation) []byte {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	scopes := map[string]string{}
	for _, known := range account.ScopeList {
		scopes[string(known.Scope)] = known.Description
	}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Formulary",
			Version: "1",
			Description: "Manage forms and responses, and let applications act on a user's behalf through OAuth 2.0.\n\n" +
				"Errors look like `{\"errorCode\": …, \"message\": …}`. The HTTP status is `errorCode / 1000`.",
			Contact: &huma.Contact{Name: "The administrator of this installation"},
		},
		Servers: []*huma.Server{{URL: "/"}},
		Tags: []*huma.Tag{
			{Name: "Account", Description: "The user behind an access token"},
			{Name: "Forms", Description: "Create, edit, publish and delete forms"},
			{Name: "Themes", Description: "Save designs to use them in several forms"},
			{Name: "Responses", Description: "Read, submit, export and summarize responses"},
			{Name: "Views", Description: "Save filters of a form's responses under a name"},
			{Name: "Files", Description: "Upload and download the files of responses, and pictures for forms"},
			{Name: "Webhooks", Description: "Send the events of a form to another service"},
			{Name: "Email", Description: "Notify people of responses, and send receipts to respondents"},
			{Name: "OAuth 2.0", Description: "Get, refresh, inspect and revoke tokens"},
			{Name: "OpenAPI", Description: "The OpenAPI description of this API"},
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				userScheme: {
					Type:        "oauth2",
					Description: "An access token, or a personal token that the user created for scripts. Both are sent as `Authorization: Bearer …`.",
					Flows: &huma.OAuthFlows{AuthorizationCode: &huma.OAuthFlow{
						AuthorizationURL: "/authorize", TokenURL: "/api/oauth2/token", RefreshURL: "/api/oauth2/refresh", Scopes: scopes,
					}},
				},
				clientScheme: {
					Type: "http", Scheme: "basic",
					Description: "The client ID and client secret of an application. They can also be sent in the body.",
				},
			},
		},
		Paths: map[string]*huma.PathItem{},
	}
	for place, op := range operations {
		item := doc.Paths[op.Path]
		if item == nil {
			item = &huma.PathItem{}
			doc.Paths[op.Path] = item
		}
		described := op.describe(schemas)
		// JSON objects are unordered, so the reference needs the order of the
		// operations.
		described.Extensions = map[string]any{"x-order": place}
		switch op.Method {
		case "GET":
			item.Get = described
		case "POST":
			item.Post = described
		case "PUT":
			item.Put = described
		case "PATCH":
			item.Patch = described
		case "DELETE":
			item.Delete = described
		default:
			panic("unsupported method in the API document: " + op.Method)
		}
	}
	// Names of kinds are not in a struct tag.
	schemas.Map()["Field"].Properties["kind"].Enum = kindNames()
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err) // cannot happen: the document consists of our own types
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		panic(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// Names of the security schemes: a user's access token, and an application's secret.
const (
	userScheme   = "oauth2"
	clientScheme = "client"
)

func (op *operation) describe(schemas huma.Registry) *huma.Operation {
	d := &huma.Operation{
		OperationID: op.ID, Summary: op.Summary, Description: op.Description, Tags: []string{op.Tag},
		Responses: map[string]*huma.Response{},
	}
	switch {
	case !op.Open:
		needs := []string{}
		if op.Scope != "" {
			needs = append(needs, string(op.Scope))
		}
		d.Security = []map[string][]string{{userScheme: needs}}
	case op.form != nil:
		d.Security = []map[string][]string{{clientScheme: {}}, {}}
	default:
		d.Security = []map[string][]string{{}} // no authentication
	}
	if op.input != nil {
		op.describeInput(d, schemas)
	}
	if op.form != nil {
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/x-www-form-urlencoded": {Schema: schemas.Schema(op.form, false, op.ID)},
		}}
	}
	if op.binary {
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}},
		}}
	}
	success := &huma.Response{Description: "Success"}
	if op.output != nil {
		success.Content = jsonContent(schemas.Schema(op.output, true, op.ID))
	}
	for _, media := range op.media {
		if success.Content == nil {
			success.Content = map[string]*huma.MediaType{}
		}
		success.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
	}
	success.Headers = op.headers()
	d.Responses[strconv.Itoa(op.Status)] = success
	if op.ranges {
		d.Responses["206"] = &huma.Response{Description: "The requested part", Content: success.Content}
		d.Responses["304"] = &huma.Response{Description: "Not modified"}
	}
	op.describeErrors(d, schemas)
	return d
}

func (op *operation) describeInput(d *huma.Operation, schemas huma.Registry) {
	for _, f := range inputFields(op.input) {
		if f.Name == "Body" {
			d.RequestBody = &huma.RequestBody{Required: f.Type.Kind() != reflect.Pointer, Content: jsonContent(schemas.Schema(f.Type, true, op.ID))}
			continue
		}
		for _, in := range []string{"path", "query", "header"} {
			name := f.Tag.Get(in)
			if name == "" {
				continue
			}
			schema := huma.SchemaFromField(schemas, f, op.ID)
			param := &huma.Param{Name: name, In: in, Required: in == "path", Description: f.Tag.Get("doc"), Schema: schema}
			if f.Type.Kind() == reflect.Map {
				explode := true
				param.Style, param.Explode = "deepObject", &explode
				param.Schema = &huma.Schema{Type: "object", AdditionalProperties: &huma.Schema{Type: "string"}}
			}
			d.Parameters = append(d.Parameters, param)
		}
	}
}

// headers returns the headers of a successful response.
func (op *operation) headers() map[string]*huma.Param {
	text := &huma.Schema{Type: "string"}
	h := map[string]*huma.Param{}
	switch op.ID {
	case "listForms", "listResponses", "listVersions", "listWebhooks", "listDeliveries", "listThemes", "listViews":
		h["Link"] = &huma.Param{Description: "Links to the first, previous, next and last page (RFC 8288)", Schema: text}
	case "createView":
		h["Location"] = &huma.Param{Description: "API address of the new view", Schema: text}
	case "createTheme":
		h["Location"] = &huma.Param{Description: "API address of the new theme", Schema: text}
	case "createWebhook":
		h["Location"] = &huma.Param{Description: "API address of the new webhook", Schema: text}
	case "createForm", "duplicateForm":
		h["Location"] = &huma.Param{Description: "API address of the new form", Schema: text}
		fallthrough
	case "readForm", "changeForm", "publishForm", "closeForm", "openForm":
		h["ETag"] = &huma.Param{Description: "Send it as If-Match to detect conflicting changes", Schema: text}
	}
	return h
}

// describeErrors lists the error codes of each status that the operation can return.
func (op *operation) describeErrors(d *huma.Operation, schemas huma.Registry) {
	codes := append(slices.Clone(op.Errors), fault.RateLimited, fault.Internal, fault.DatabaseUnreachable)
	if !op.Open {
		codes = append(codes, fault.InvalidToken, fault.NoAuthorization, fault.NotBearer, fault.ExpiredToken, fault.UserNotFound)
	}
	if op.Scope != "" {
		codes = append(codes, fault.MissingScope, fault.MissingRole)
	}
	slices.Sort(codes)
	body := reflect.TypeFor[Error]()
	if strings.HasPrefix(op.Path, "/api/oauth2/") {
		body = reflect.TypeFor[OAuthError]()
	}
	for _, code := range slices.Compact(codes) {
		status := strconv.Itoa(code.Status())
		if known := d.Responses[status]; known != nil {
			known.Description += fmt.Sprintf(", %d", code)
			continue
		}
		d.Responses[status] = &huma.Response{
			Description: fmt.Sprintf("errorCode %d", code),
			Content:     jsonContent(schemas.Schema(body, true, "Error")),
		}
	}
}

func jsonContent(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}

func (a *API) openAPI() *operation {
	return &operation{
		Method: "GET", Path: "/api/v1/openapi.json", ID: "openapi", Tag: "OpenAPI", Open: true, Status: 200,
		Summary: "Get the OpenAPI document", Description: "The OpenAPI document of this API.", CORS: true, output: reflect.TypeFor[map[string]any](),
		serve: func(a *API, w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Cache-Control", "public, max-age=300")
			compress.Vary(w.Header())
			writeCached(w, http.StatusOK, a.cachedDocument(), a.document())
			return nil
		},
	}
}
