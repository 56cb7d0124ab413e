package form

import (
	"net/url"
	"slices"
)

// upload is one or several uploaded files.
type upload struct{}

func (upload) Name() string         { return "file" }
func (upload) Properties() []string { return []string{"accept", "max_files", "max_size_mb"} }

const (
	mostFiles       = 20
	mostFileSize    = 10_000 // MB; the server has a limit of its own
	defaultFileSize = 10     // MB
)

func (upload) Check(f *Field, invalid func(property, format string, args ...any)) {
	for i, group := range f.Accept {
		if !slices.Contains(FileGroups, group) {
			invalid("accept", "%q is not a group of file types", group)
		} else if slices.Contains(f.Accept[:i], group) {
			invalid("accept", "%q appears more than once", group)
		}
	}
	if f.MaxFiles != nil && (*f.MaxFiles < 1 || *f.MaxFiles > mostFiles) {
		invalid("max_files", "enter a number from 1 to %d", mostFiles)
	}
	if f.MaxSizeMB != nil && (*f.MaxSizeMB < 1 || *f.MaxSizeMB > mostFileSize) {
		invalid("max_size_mb", "enter a number from 1 to %d", mostFileSize)
	}
}

func (upload) FileRules(f *Field) FileRules {
	rules := FileRules{Accept: f.Accept, MaxFiles: 1, MaxSize: defaultFileSize << 20}
	if f.MaxFiles != nil {
		rules.MaxFiles = *f.MaxFiles
	}
	if f.MaxSizeMB != nil {
		rules.MaxSize = int64(*f.MaxSizeMB) << 20
	}
	return rules
}

func (upload) ParseForm(f *Field, in url.Values) any {
	if list := formFiles(f, in); list != nil {
		return list
	}
	return nil
}

func (k upload) Validate(f *Field, value any) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errList
	}
	return validateFiles(list, k.FileRules(f).MaxFiles)
}

func (k upload) Schema(f *Field) map[string]any { return filesSchema(k.FileRules(f).MaxFiles) }

func (upload) Traits() Traits {
	return Traits{Files: true, List: true, Group: true, NoDefault: true, Asset: "file", Sketch: "file"}
}

func (upload) Info() KindInfo {
	return KindInfo{"File", "Documents, photos or other files", "Files", "upload", "upload, attachment, document, photo, image"}
}
