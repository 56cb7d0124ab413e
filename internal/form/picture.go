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

// PictureUse is a place in a definition that shows a picture.
type PictureUse struct {
	Path string // such as design.logo
	ID   string
}

// Pictures lists the uses of pictures in the definition.
func (d *Definition) Pictures() []PictureUse {
	uses := d.Design.Pictures()
	for i, f := range d.Fields {
		for j, o := range f.Options {
			if o.Image != "" {
				uses = append(uses, PictureUse{fmt.Sprintf("fields.%d.options.%d.image", i, j), o.Image})
			}
		}
	}
	return uses
}

// Pictures lists the uses of pictures in the design.
func (d Design) Pictures() []PictureUse {
	var uses []PictureUse
	for _, name := range []string{"logo", "cover"} {
		if id := *d.Value(name); id != "" {
			uses = append(uses, PictureUse{"design." + name, id})
		}
	}
	return uses
}

// CheckPictures reports uses of pictures that do not exist.
func CheckPictures(uses []PictureUse, exists func(id string) bool) error {
	var details []fault.Detail
	for _, use := range uses {
		if len(details) < maxDetails && !exists(use.ID) {
			details = append(details, fault.NewDetail(use.Path, "this picture does not exist; upload it again"))
		}
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// CheckPublish reports what a draft may have or lack, but a published form may not: mistakes,
// and options without pictures or without what they show.
func (d *Definition) CheckPublish() error {
	if d.Unfinished != nil {
		if details := d.Unfinished.Problems(); len(details) > 0 {
			return fault.InvalidFields(details...)
		}
		return fault.InvalidField("fields", "some questions are unfinished; open the form in the builder")
	}
	if details := d.missingPictures(); len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// missingPictures lists options without a picture or without what it shows.
func (d *Definition) missingPictures() []fault.Detail {
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
	return details[:min(len(details), maxDetails)]
}
