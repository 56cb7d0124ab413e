package form

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// File is an uploaded file in an answer. Until the submission looks it up, only its ID is
// known.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size"`
	Type string `json:"type"`
}

// FileRules are the limits of the files that answer a question.
type FileRules struct {
	Accept   []string // groups of types, such as image; empty: all of FileGroups
	MaxFiles int
	MaxSize  int64 // of one file, in bytes
}

// FileKind is a kind whose answers are uploaded files.
type FileKind interface {
	Kind
	FileRules(f *Field) FileRules
}

// FileRules returns the limits of the field's files, or false if its answers are not
// files.
func (f *Field) FileRules() (FileRules, bool) {
	if e := registry.byName[f.Kind]; e != nil {
		if kind, ok := e.Kind.(FileKind); ok {
			return kind.FileRules(f), true
		}
	}
	return FileRules{}, false
}

// FileGroups are the groups of types that a question can accept.
var FileGroups = []string{"image", "pdf", "document", "spreadsheet", "presentation", "audio", "video", "archive"}

const (
	fileIDPrefix = "fil_"
	fileIDLength = len(fileIDPrefix) + 26
)

// isFileID reports whether a text looks like the ID of a file.
func isFileID(text string) bool {
	if len(text) != fileIDLength || !strings.HasPrefix(text, fileIDPrefix) {
		return false
	}
	for _, c := range []byte(text[len(fileIDPrefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

var errFiles = answerError("upload the file again")

// ErrFileGone is the error about a file that another response has or that has expired.
var ErrFileGone = answerError("upload the file again; it is not available any more")

// FilesOf returns the files in an answer, submitted or stored. Other answers have none.
func FilesOf(answer any) []File {
	switch a := answer.(type) {
	case []File:
		return a
	case []any:
		var files []File
		for _, v := range a {
			if f, ok := fileOf(v); ok {
				files = append(files, f)
			}
		}
		return files
	}
	return nil
}

// fileOf reads an ID or a stored file.
func fileOf(value any) (File, bool) {
	switch v := value.(type) {
	case string:
		return File{ID: v}, isFileID(v)
	case map[string]any:
		var f File
		f.ID, _ = v["id"].(string)
		f.Name, _ = v["name"].(string)
		f.Type, _ = v["type"].(string)
		size, _ := v["size"].(float64)
		f.Size = int64(max(0, min(size, 1<<53)))
		return f, isFileID(f.ID)
	}
	return File{}, false
}

// validateFiles checks the number of files and returns them without duplicates.
func validateFiles(list []any, most int) (any, error) {
	if len(list) > most {
		return nil, tooManyFiles(most)
	}
	files := make([]File, 0, len(list))
	for _, v := range list {
		f, ok := fileOf(v)
		if !ok {
			return nil, errFiles
		}
		if !slices.ContainsFunc(files, func(other File) bool { return other.ID == f.ID }) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	return files, nil
}

func tooManyFiles(most int) error {
	if most == 1 {
		return answerError("add no more than 1 file")
	}
	return answerError("add no more than %d files", most)
}

// FormValue returns the file as a page posts it: everything that is known about it, so
// that the next page can name it. The submission looks the file up again.
func (f File) FormValue() string {
	return f.ID + "|" + strconv.FormatInt(f.Size, 10) + "|" + f.Type + "|" + f.Name
}

// parseFormFile reads the result of FormValue, or an ID alone.
func parseFormFile(text string) (File, bool) {
	parts := strings.SplitN(text, "|", 4)
	f := File{ID: parts[0]}
	if len(parts) == 4 {
		size, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || size < 0 || size >= 1<<53 {
			return File{}, false
		}
		f.Size, f.Type, f.Name = size, parts[2], parts[3]
	}
	return f, isFileID(f.ID) && (len(parts) == 1 || len(parts) == 4)
}

// PostedFiles returns the files that a page posted for the field, without those to remove
// (key.remove).
func (f *Field) PostedFiles(in url.Values) []File {
	var list []File
	for _, text := range in[f.Key] {
		if file, ok := parseFormFile(text); ok && !slices.Contains(in[f.Key+".remove"], file.ID) {
			list = append(list, file)
		}
	}
	return list
}

// formFiles returns the posted files like decoded JSON.
func formFiles(f *Field, in url.Values) []any {
	var list []any
	for _, file := range f.PostedFiles(in) {
		list = append(list, map[string]any{"id": file.ID, "name": file.Name, "size": float64(file.Size), "type": file.Type})
	}
	return list
}

// filesSchema is the JSON Schema of a list of files: IDs when submitted, objects when
// stored.
func filesSchema(most int) map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type": "array", "maxItems": most,
		"items": map[string]any{
			"type": []string{"string", "object"}, "pattern": "^" + fileIDPrefix + "[0-9a-z]{26}$",
			"properties": map[string]any{"id": text, "name": text, "size": map[string]any{"type": "integer"}, "type": text, "url": text},
			"required":   []string{"id"},
		},
	}
}

// fileNames returns the names of files, or their IDs before they are looked up.
func fileNames(files []File) []string {
	names := make([]string, len(files))
	for i, f := range files {
		if names[i] = f.Name; f.Name == "" {
			names[i] = f.ID
		}
	}
	return names
}

func fileIDs(files []File) []string {
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return ids
}

// FileAnswer is an answer that consists of files.
type FileAnswer struct {
	Field string // key
	IDs   []string
}

// HasFiles reports whether any question is answered with files.
func (d *Definition) HasFiles() bool { return d.prepared().hasFiles }

// Files lists the files in the answers, in the order of the questions.
func (d *Definition) Files(answers map[string]any) []FileAnswer {
	if !d.HasFiles() {
		return nil
	}
	var list []FileAnswer
	for _, f := range d.Fields {
		if !f.Traits().Files {
			continue
		}
		if files := FilesOf(answers[f.Key]); len(files) > 0 {
			list = append(list, FileAnswer{f.Key, fileIDs(files)})
		}
	}
	return list
}

// WithFiles returns the answers with what is known about their files. A file that is not
// in byID keeps only its ID, whatever the respondent said about it.
func (d *Definition) WithFiles(answers map[string]any, byID map[string]File) map[string]any {
	list := d.Files(answers)
	if list == nil {
		return answers
	}
	out := maps.Clone(answers)
	for _, a := range list {
		files := make([]File, len(a.IDs))
		for i, id := range a.IDs {
			files[i] = File{ID: id}
			if known, ok := byID[id]; ok {
				files[i] = known
			}
		}
		out[a.Field] = files
	}
	return out
}
