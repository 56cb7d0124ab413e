package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

type formCommands struct {
	Export formExport `cmd:"" help:"Print a form as JSON for form apply."`
	Apply  formApply  `cmd:"" help:"Create or update a form from a file."`
	Move   formMove   `cmd:"" help:"Move a form to another space, with its responses, files and webhooks."`
}

// formFile is a form as a file: its draft and availability, without responses.
type formFile struct {
	Formulary     int            `json:"formulary"` // version of the file format
	ID            string         `json:"id,omitempty"`
	Title         string         `json:"title"`
	Description   string         `json:"description"`
	Language      string         `json:"language"`
	Slug          string         `json:"slug,omitempty"`
	OpensAt       string         `json:"opens_at,omitempty"`
	ClosesAt      string         `json:"closes_at,omitempty"`
	ResponseLimit int64          `json:"response_limit,omitempty"`
	Sites         []string       `json:"sites"`
	Fields        []*form.Field  `json:"fields"`
	Endings       []*form.Ending `json:"endings,omitempty"`
	Settings      form.Settings  `json:"settings,omitzero"`
	Design        form.Design    `json:"design,omitzero"`
}

const formFileFormat = 1

func newFormFile(f form.Form, d *form.Definition) formFile {
	out := formFile{
		Formulary: formFileFormat, ID: f.ID, Title: f.Title, Description: f.Description, Language: f.Language, Slug: f.Slug,
		ResponseLimit: f.ResponseLimit, Sites: strings.Fields(f.Sites), Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Design: d.Design,
	}
	if !f.OpensAt.IsZero() {
		out.OpensAt = f.OpensAt.Format(time.RFC3339Nano)
	}
	if !f.ClosesAt.IsZero() {
		out.ClosesAt = f.ClosesAt.Format(time.RFC3339Nano)
	}
	return out
}

// toInput converts the file to a validated form input.
func (f formFile) toInput() (form.FormInput, error) {
	p := form.FormInput{
		Header:       form.Header{Title: f.Title, Description: f.Description, Language: f.Language},
		Availability: form.Availability{Slug: f.Slug, ResponseLimit: f.ResponseLimit, Sites: strings.Join(f.Sites, " ")},
		Definition:   &form.Definition{Fields: f.Fields, Endings: f.Endings, Settings: f.Settings, Design: f.Design},
	}
	if f.Fields == nil {
		p.Definition.Fields = []*form.Field{}
	}
	var err error
	if p.OpensAt, err = parseTime(f.OpensAt); err != nil {
		return p, err
	}
	if p.ClosesAt, err = parseTime(f.ClosesAt); err != nil {
		return p, err
	}
	return p, p.Normalize()
}

// parseTime parses RFC 3339. An empty text is the zero time.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("%q is not an RFC 3339 time, such as 2026-05-31T17:30:00Z", text)
	}
	return t.UTC().Truncate(time.Millisecond), nil
}

type formExport struct {
	Form string `arg:"" help:"Form ID or custom link."`
}

func (c formExport) Run(ctx context.Context, storage Storage, io streams) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	public, err := findForm(ctx, s, c.Form)
	if err != nil {
		return err
	}
	f, err := s.Form(ctx, public.Owner, public.ID)
	if err != nil {
		return err
	}
	d, err := s.Draft(ctx, public.Owner, public.ID)
	if err != nil {
		return err
	}
	out := json.NewEncoder(io.out)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(newFormFile(f, d))
}

// findForm finds a form of any owner by ID or custom link.
func findForm(ctx context.Context, s *store.Store, address string) (*store.PublicForm, error) {
	f, err := s.PublicForm(ctx, address)
	if errors.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("form %s not found", address)
	}
	return f, err
}

type formApply struct {
	File    string `arg:"" help:"File to read; - for standard input."`
	Owner   string `env:"FORMULARY_FORM_OWNER" help:"Email address of the form's owner; with --space, of somebody who may edit forms there." placeholder:"EMAIL"`
	Space   string `env:"FORMULARY_FORM_SPACE" help:"ID of the space of the form. Default: the owner's own space." placeholder:"ID"`
	DryRun  bool   `env:"FORMULARY_DRY_RUN" help:"Show what would change without saving."`
	Publish bool   `env:"FORMULARY_PUBLISH" help:"Publish the form after saving."`
}

func (c formApply) Run(ctx context.Context, storage Storage, io streams) error {
	file, err := c.read(io)
	if err != nil {
		return err
	}
	input, err := file.toInput()
	if err != nil {
		return describeProblems(err)
	}
	return c.withSpace(ctx, storage, func(s *store.Store, owner string) error {
		f, before, err := currentForm(ctx, s, owner, file.ID)
		if err != nil {
			return err
		}
		changes := form.Diff(before, input)
		for _, line := range changes {
			fmt.Fprintln(io.out, line)
		}
		if c.DryRun {
			switch {
			case f.ID == "":
				fmt.Fprintln(io.out, "Would create a new form.")
			case len(changes) == 0:
				fmt.Fprintf(io.out, "%s is up to date.\n", f.ID)
			default:
				fmt.Fprintf(io.out, "Would update %s.\n", f.ID)
			}
			return nil
		}
		now := time.Now()
		switch {
		case f.ID == "":
			if f, err = s.CreateFormFrom(ctx, owner, input, store.IdempotencyKey{}, now); err == nil {
				fmt.Fprintf(io.out, "Created %s.\n", f.ID)
			}
		case len(changes) == 0:
			fmt.Fprintf(io.out, "%s is up to date.\n", f.ID)
		default:
			f, err = s.UpdateForm(ctx, owner, store.FormRevision{ID: f.ID, Revision: f.Revision}, func(to *form.FormInput) error { *to = input; return nil }, now)
			if err == nil {
				fmt.Fprintf(io.out, "Updated %s.\n", f.ID)
			}
		}
		if err == nil && c.Publish {
			if f, err = s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, now); err == nil {
				fmt.Fprintf(io.out, "Published version %d.\n", f.Version)
			}
		}
		return describeProblems(err)
	})
}

// withSpace opens the store and finds the space of the form.
func (c formApply) withSpace(ctx context.Context, storage Storage, do func(_ *store.Store, owner string) error) error {
	switch {
	case c.Owner == "" && c.Space == "":
		return errors.New("set the owner or the space of the form with --owner or --space")
	case c.Space == "":
		return withUser(ctx, storage, c.Owner, func(s *store.Store, p account.User) error { return do(s, p.ID) })
	}
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	space, err := findSpace(ctx, s, c.Space)
	if err != nil {
		return err
	}
	if c.Owner == "" {
		return do(s, space.Key)
	}
	p, err := findUser(ctx, s, c.Owner)
	if err != nil {
		return err
	}
	access, err := s.Access(ctx, p.ID, space.Key)
	if errors.Is(err, fault.NotFound) || err == nil && !access.Role.Allows(account.FormsWrite) {
		return fmt.Errorf("%s may not edit forms in %s", p.Email, c.Space)
	}
	if err != nil {
		return err
	}
	return do(s, space.Key)
}

// currentForm returns the form with its draft, or an empty one if it does not exist.
func currentForm(ctx context.Context, s *store.Store, owner, id string) (form.Form, form.FormInput, error) {
	empty := form.FormInput{Definition: &form.Definition{}}
	f, err := s.Form(ctx, owner, id)
	if errors.Is(err, fault.NotFound) {
		return form.Form{}, empty, nil
	}
	if err != nil {
		return f, empty, err
	}
	d, err := s.Draft(ctx, owner, id)
	return f, form.FormInput{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Availability: f.Availability, Definition: d}, err
}

func (c formApply) read(io streams) (formFile, error) {
	var text bytes.Buffer
	if c.File == "-" {
		if _, err := text.ReadFrom(io.in); err != nil {
			return formFile{}, err
		}
	} else {
		content, err := os.ReadFile(c.File)
		if err != nil {
			return formFile{}, err
		}
		text.Write(content)
	}
	file := formFile{Sites: []string{form.AnySite}}
	if err := strict.Unmarshal(text.Bytes(), &file, strict.RejectUnknownMembers(true)); err != nil {
		return file, fmt.Errorf("%s is not a valid form file: %w", c.File, err)
	}
	if file.Formulary != formFileFormat {
		return file, fmt.Errorf("%s has an unsupported format; \"formulary\" must be %d", c.File, formFileFormat)
	}
	return file, nil
}

// describeProblems lists each invalid field on its own line.
func describeProblems(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || len(e.Details) == 0 {
		return err
	}
	var lines []string
	for _, d := range e.Details {
		lines = append(lines, d.Field+": "+d.Message)
	}
	return errors.New(strings.Join(lines, "\n  "))
}
