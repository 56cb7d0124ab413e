package mail

import (
	"fmt"
	"html/template"
	"strings"
)

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

// parse parses the template of mails. Colors and fonts become part of its text: to check and insert
// each of them in every mail would take most of the time that writing one takes.
func (l look) parse(text string) (*template.Template, error) {
	var pairs []string
	for name, p := range map[string]palette{"$light": l.Light, "$dark": l.Dark} {
		for color, value := range map[string]template.CSS{"Ground": p.Ground, "Sheet": p.Sheet, "Line": p.Line, "Ink": p.Ink, "Soft": p.Soft, "Link": p.Link, "Button": p.Button} {
			pairs = append(pairs, "{{"+name+"."+color+"}}", string(value))
		}
	}
	pairs = append(pairs, "{{$look.Font}}", string(l.Font()), "{{$look.Heading}}", string(l.Heading))
	t, err := template.New("mail").Parse(strings.NewReplacer(pairs...).Replace(text))
	if err != nil {
		return nil, fmt.Errorf("parse mail template: %w", err)
	}
	return t, nil
}

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
