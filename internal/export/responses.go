package export

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"formulary/internal/form"
)

// Format is a file format.
type Format struct {
	Name string
	Type string // media type
}

// Formats lists the supported formats.
var Formats = []Format{
	{"csv", "text/csv; charset=utf-8"},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"jsonl", "application/jsonl"},
}

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Table describes a file of responses.
type Table struct {
	Format   string
	Labels   bool               // headers and options by label instead of key
	Versions []*form.Definition // definitions of all versions, in order
	Only     []string           // keys of the columns to write; empty means all
	Marks    bool               // with status, star and tags; the responses have them
	// BaseURL is the address of the service. With it, the addresses of files are written too.
	BaseURL string
	// FilePath returns where a file is instead of at an address, such as in an archive.
	FilePath func(r form.Response, key string, files []form.File) []string
}

// column is a column of a table.
type column struct {
	form.Column
	places bool // where the files are, instead of their names
}

// columns returns the columns of the table. Those with files are followed by one that says
// where the files are.
func (t Table) columns() []column {
	var list []column
	for _, c := range form.Columns(t.Versions) {
		if len(t.Only) > 0 && !slices.Contains(t.Only, c.Key) {
			continue
		}
		list = append(list, column{Column: c})
		hasFiles := slices.ContainsFunc(t.Versions, func(d *form.Definition) bool {
			f := d.ByID()[c.ID]
			return f != nil && f.Traits().Files
		})
		if !hasFiles || t.BaseURL == "" && t.FilePath == nil {
			continue
		}
		places := column{Column: c, places: true}
		places.Key, places.Label = c.Key+".url", c.Label+": URL"
		if t.FilePath != nil {
			places.Key, places.Label = c.Key+".path", c.Label+": Path"
		}
		list = append(list, places)
	}
	return list
}

// cell returns the value of a column. f is the field in the version that was answered.
func (t Table) cell(c column, f *form.Field, r form.Response, answers map[string]any) any {
	if !c.places {
		return c.Cell(f, answers, t.Labels)
	}
	if f == nil {
		return nil
	}
	files := form.FilesOf(answers[f.Key])
	if len(files) == 0 {
		return nil
	}
	if t.FilePath != nil {
		return strings.Join(t.FilePath(r, f.Key, files), "; ")
	}
	urls := make([]string, len(files))
	for i, file := range files {
		urls[i] = form.FileURL(t.BaseURL, r.FormID, file.ID)
	}
	return strings.Join(urls, "; ")
}

// line is one response in a JSON Lines file.
type line struct {
	ID          string          `json:"id"`
	FormID      string          `json:"form_id"`
	Version     int64           `json:"version"`
	SubmittedAt string          `json:"submitted_at"`
	Answers     json.RawMessage `json:"answers"`
	Metadata    json.RawMessage `json:"metadata"`
	*marks
}

// marks are the status, the star and the tags of a response.
type marks struct {
	Status  form.ResponseStatus `json:"status"`
	Starred bool                `json:"starred"`
	Tags    []string            `json:"tags"`
}

// Responses writes the responses that each yields. It retains none of them.
func (t Table) Responses(out io.Writer, each func(func(form.Response) error) error) error {
	if t.Format == "jsonl" {
		return t.writeLines(out, each)
	}
	columns := t.columns()
	header := []string{"id", "submitted_at", "version"}
	if t.Labels {
		header = []string{"Response ID", "Submitted at", "Version"}
		if t.Format == "xlsx" {
			header[1] += " (UTC)" // cells with a time have no time zone
		}
	}
	if t.Marks && t.Labels {
		header = append(header, "Status", "Starred", "Tags")
	} else if t.Marks {
		header = append(header, "status", "starred", "tags")
	}
	for _, c := range columns {
		if t.Labels {
			header = append(header, c.Label)
		} else {
			header = append(header, c.Key)
		}
	}
	open := NewCSV
	if t.Format == "xlsx" {
		open = NewXLSX
	}
	w, err := open(out, header)
	if err != nil {
		return err
	}
	fields := make([][]*form.Field, len(t.Versions)) // by version and column
	for i, d := range t.Versions {
		byID := d.ByID()
		for _, c := range columns {
			fields[i] = append(fields[i], byID[c.ID])
		}
	}
	cells := make([]any, len(header))
	err = prefetch(each, func(r form.Response, answers map[string]any) error {
		if int(r.Version) > len(fields) {
			return nil // submitted to a version that was published after the export started
		}
		versionFields := fields[r.Version-1]
		cells = append(cells[:0], r.ID, r.SubmittedAt, r.Version)
		if t.Marks {
			cells = append(cells, string(r.Marks.Status), r.Marks.Starred, strings.Join(r.Marks.TagList(), ", "))
		}
		for i, c := range columns {
			cells = append(cells, t.cell(c, versionFields[i], r, answers))
		}
		return w.Row(cells)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func (t Table) writeLines(out io.Writer, each func(func(form.Response) error) error) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	err := each(func(r form.Response) error {
		if t.BaseURL != "" {
			r = r.WithFileURLs(t.BaseURL)
		}
		l := line{
			r.ID, r.FormID, r.Version, string(form.AppendTime(nil, r.SubmittedAt)),
			json.RawMessage(r.JSON), json.RawMessage(r.Metadata), nil,
		}
		if t.Marks {
			l.marks = &marks{r.Marks.Status, r.Marks.Starred, r.Marks.TagList()}
		}
		return encoder.Encode(l)
	})
	if err != nil {
		return err
	}
	return buffer.Flush()
}
