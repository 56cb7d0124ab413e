package form

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

const maxAlt = 500 // characters of an alternative text

// checkPictures checks the pictures of options and their alternative texts. A draft may
// lack them; CheckPublish does not accept that.
func (f *Field) checkPictures(invalid func(property, format string, args ...any)) {
	takes := f.Traits().Pictures
	for i := range f.Options {
		o := &f.Options[i]
		path := "options." + strconv.Itoa(i)
		o.Alt = strings.TrimSpace(o.Alt)
		switch {
		case !takes && (o.Image != "" || o.Alt != ""):
			invalid(path+".image", "pictures are not available for %s", f.Kind)
		case o.Image != "" && !isFileID(o.Image):
			invalid(path+".image", "enter the ID of a picture")
		case utf8.RuneCountInString(o.Alt) > maxAlt || strings.ContainsFunc(o.Alt, unicode.IsControl):
			invalid(path+".alt", "use one line of up to %d characters", maxAlt)
		}
	}
	for i, row := range f.Rows {
		if row.Image != "" || row.Alt != "" {
			invalid("rows."+strconv.Itoa(i)+".image", "pictures are not available for %s", f.Kind)
		}
	}
}

// Pictures lists the IDs of the pictures in the definition, each once.
func (d *Definition) Pictures() []string {
	var ids []string
	seen := map[string]bool{}
	for _, f := range d.Fields {
		for _, o := range f.Options {
			if o.Image != "" && !seen[o.Image] {
				seen[o.Image] = true
				ids = append(ids, o.Image)
			}
		}
	}
	return ids
}

// CheckPublish reports what a draft may lack, but a published form may not: pictures and
// what they show.
func (d *Definition) CheckPublish() error {
	var details []fault.Detail
	for i, f := range d.Fields {
		if !f.Traits().Pictures {
			continue
		}
		for j, o := range f.Options {
			path := fmt.Sprintf("fields.%d.options.%d", i, j)
			if o.Image == "" {
				details = append(details, fault.NewDetail(path+".image", "add a picture"))
			} else if o.Alt == "" {
				details = append(details, fault.NewDetail(path+".alt", "describe the picture for people who cannot see it"))
			}
		}
	}
	if len(details) > 0 {
		return fault.InvalidFields(details[:min(len(details), maxDetails)]...)
	}
	return nil
}
