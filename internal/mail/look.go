package mail

import "html/template"

// look is how the HTML of a mail looks. Mail programs ignore style sheets in part, so the light
// colors are also in style attributes.
type look struct {
	Light, Dark palette
	Heading     template.CSS // font of the heading
	Sheet       bool         // the content is on a sheet with a border, and not on the ground
}

// palette has colors with enough contrast to each other.
type palette struct {
	Ground, Sheet, Line template.CSS
	Ink, Soft           template.CSS // texts on Ground and on Sheet
	Link, Button        template.CSS
}

const sansFont = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

// Font is the font of texts.
func (look) Font() template.CSS { return sansFont }

var (
	// workspaceLook is for mails to people with an account.
	workspaceLook = look{
		Light:   palette{Ground: "#f6f7f5", Sheet: "#ffffff", Line: "#e0e4e1", Ink: "#1a1f1d", Soft: "#5d6663", Link: "#1f6b57", Button: "#1f6b57"},
		Dark:    palette{Ground: "#121413", Sheet: "#191c1b", Line: "#2c312f", Ink: "#eef1ef", Soft: "#a7aeab", Link: "#7fd1b9", Button: "#1f6b57"},
		Heading: "700 22px/1.25 " + sansFont, Sheet: true,
	}
	// formLook is for mails to respondents: that of public forms.
	formLook = look{
		Light:   palette{Ground: "#faf8f3", Sheet: "#faf8f3", Line: "#ddd7ca", Ink: "#22201c", Soft: "#635d53", Link: "#1f6b57", Button: "#1f6b57"},
		Dark:    palette{Ground: "#171613", Sheet: "#171613", Line: "#3a3732", Ink: "#ece8df", Soft: "#a9a296", Link: "#86d3bb", Button: "#1f6b57"},
		Heading: "600 30px/1.2 'Iowan Old Style', Charter, Georgia, serif",
	}
)
