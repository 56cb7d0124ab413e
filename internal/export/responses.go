package export

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"

	"formulary/internal/form"
)

// Format is a kind of file.
type Format struct {
	Name string
	Type string // as in Content-Type
}

// Formats are the kinds of files that there are.
var Formats = []Format{
	{"csv", "text/csv; charset=utf-8"},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"jsonl", "application/jsonl"},
}

// ParseFormat is the one with the name; false: there is none.
func ParseFormat(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Table says what a file of responses looks like.
type Table struct {
	Format   string
	Labels   bool               // the form's labels, for people; otherwise its keys
	Versions []*form.Definition // what each version of the form asked
	Only     []string           // keys of the columns that are wanted; empty: all
}

// line is a response in a file of JSON Lines.
type line struct {
	ID          string          `json:"id"`
	FormID      string          `json:"form_id"`
	Version     int64           `json:"version"`
	SubmittedAt string          `json:"submitted_at"`
	Answers     json.RawMessage `json:"answers"`
	Metadata    json.RawMessage `json:"metadata"`
}

// Responses writes the responses that each goes through. It keeps none of them.
func (t Table) Responses(out io.Writer, each func(func(form.Response) error) error) error {
	if t.Format == "jsonl" {
		return t.lines(out, each)
	}
	columns := slices.DeleteFunc(form.Columns(t.Versions), func(c form.Column) bool {
		return len(t.Only) > 0 && !slices.Contains(t.Only, c.Key)
	})
	header := []string{"id", "submitted_at", "version"}
	if t.Labels {
		header = []string{"Response ID", "Submitted at", "Version"}
		if t.Format == "xlsx" {
			header[1] += " (UTC)" // which a cell with a time cannot say
		}
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
	fields := make([][]*form.Field, len(t.Versions)) // of each version, by the column
	for i, d := range t.Versions {
		byID := d.ByID()
		for _, c := range columns {
			fields[i] = append(fields[i], byID[c.ID])
		}
	}
	cells := make([]any, len(header))
	err = prefetch(each, func(r form.Response, answers map[string]any) error {
		if int(r.Version) > len(fields) {
			return nil // published and answered since the file was begun
		}
		asked := fields[r.Version-1]
		cells = append(cells[:0], r.ID, r.SubmittedAt, r.Version)
		for i, c := range columns {
			cells = append(cells, c.Cell(asked[i], answers, t.Labels))
		}
		return w.Row(cells)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func (t Table) lines(out io.Writer, each func(func(form.Response) error) error) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	lines := json.NewEncoder(buffer)
	lines.SetEscapeHTML(false)
	err := each(func(r form.Response) error {
		return lines.Encode(line{
			r.ID, r.FormID, r.Version, string(form.AppendTime(nil, r.SubmittedAt)),
			json.RawMessage(r.JSON), json.RawMessage(r.Metadata),
		})
	})
	if err != nil {
		return err
	}
	return buffer.Flush()
}
