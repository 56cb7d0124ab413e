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
	Export formExport `cmd:"" help:"Print a form as a file that form apply reads."`
	Apply  formApply  `cmd:"" help:"Make a form what a file says, or make a new one."`
}

// formFile is a form as a file: its draft and how it is offered, without its
// responses.
type formFile struct {
	Formulary     int            `json:"formulary"` // of the format
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
}

const formFileFormat = 1

func newFormFile(f form.Form, d *form.Definition) formFile {
	out := formFile{
		Formulary: formFileFormat, ID: f.ID, Title: f.Title, Description: f.Description, Language: f.Language, Slug: f.Slug,
		ResponseLimit: f.ResponseLimit, Sites: strings.Fields(f.Sites), Fields: d.Fields, Endings: d.Endings, Settings: d.Settings,
	}
	if !f.OpensAt.IsZero() {
		out.OpensAt = f.OpensAt.Format(time.RFC3339Nano)
	}
	if !f.ClosesAt.IsZero() {
		out.ClosesAt = f.ClosesAt.Format(time.RFC3339Nano)
	}
	return out
}

// plan is what the file says, checked.
func (f formFile) plan() (form.FormInput, error) {
	p := form.FormInput{
		Header:       form.Header{Title: f.Title, Description: f.Description, Language: f.Language},
		Availability: form.Availability{Slug: f.Slug, ResponseLimit: f.ResponseLimit, Sites: strings.Join(f.Sites, " ")},
		Definition:   &form.Definition{Fields: f.Fields, Endings: f.Endings, Settings: f.Settings},
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

// parseTime reads a time; an empty text is none.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("%q is not a time such as 2026-05-31T17:30:00Z", text)
	}
	return t.UTC().Truncate(time.Millisecond), nil
}

type formExport struct {
	Form string `arg:"" help:"Id or slug of the form."`
}

func (c formExport) Run(ctx context.Context, place Storage, io streams) error {
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	f, d, err := findForm(ctx, s, c.Form)
	if err != nil {
		return err
	}
	out := json.NewEncoder(io.out)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(newFormFile(f, d))
}

// findForm finds a form by id or slug, whoever owns it.
func findForm(ctx context.Context, s *store.Store, address string) (form.Form, *form.Definition, error) {
	public, err := s.PublicForm(ctx, address)
	if errors.Is(err, fault.NotFound) {
		return form.Form{}, nil, fmt.Errorf("there is no form %s", address)
	}
	if err != nil {
		return form.Form{}, nil, err
	}
	f, err := s.Form(ctx, public.Owner, public.ID)
	if err != nil {
		return f, nil, err
	}
	d, err := s.Draft(ctx, public.Owner, public.ID)
	return f, d, err
}

type formApply struct {
	File    string `arg:"" help:"The file; - reads from standard input."`
	Owner   string `required:"" env:"FORMULARY_FORM_OWNER" help:"E-mail address of the person whose form it is." placeholder:"EMAIL"`
	DryRun  bool   `env:"FORMULARY_DRY_RUN" help:"Only say what would change."`
	Publish bool   `env:"FORMULARY_PUBLISH" help:"Publish it then."`
}

func (c formApply) Run(ctx context.Context, place Storage, io streams) error {
	file, err := c.read(io)
	if err != nil {
		return err
	}
	plan, err := file.plan()
	if err != nil {
		return describeProblems(err)
	}
	return withUser(ctx, place, c.Owner, func(s *store.Store, p account.User) error {
		f, before, err := currentForm(ctx, s, p.ID, file.ID)
		if err != nil {
			return err
		}
		changes := form.Diff(before, plan)
		for _, line := range changes {
			fmt.Fprintln(io.out, line)
		}
		if c.DryRun {
			fmt.Fprintln(io.out, map[bool]string{true: "A new form would be made.", false: f.ID + " would be changed."}[f.ID == ""])
			return nil
		}
		now := time.Now()
		switch {
		case f.ID == "":
			if f, err = s.CreateFormFrom(ctx, p.ID, plan, store.IdempotencyKey{}, now); err == nil {
				fmt.Fprintln(io.out, f.ID, "is made.")
			}
		case len(changes) == 0:
			fmt.Fprintln(io.out, f.ID, "is already so.")
		default:
			f, err = s.UpdateForm(ctx, p.ID, store.FormRevision{ID: f.ID, Revision: f.Revision}, func(to *form.FormInput) error { *to = plan; return nil }, now)
			if err == nil {
				fmt.Fprintln(io.out, f.ID, "is changed.")
			}
		}
		if err == nil && c.Publish {
			if f, err = s.Publish(ctx, p.ID, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, now); err == nil {
				fmt.Fprintf(io.out, "Version %d is published.\n", f.Version)
			}
		}
		return describeProblems(err)
	})
}

// currentForm is what there is of a form, or nothing of one that is not there.
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
		return file, fmt.Errorf("%s is not a form: %w", c.File, err)
	}
	if file.Formulary != formFileFormat {
		return file, fmt.Errorf("%s does not say \"formulary\": %d, the format of files that this version reads", c.File, formFileFormat)
	}
	return file, nil
}

// describeProblems names each field that is wrong.
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
