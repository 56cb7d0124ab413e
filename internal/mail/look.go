package mail

import (
	"fmt"
	"html/template"
	"strings"

	"formulary/internal/form"
	"formulary/internal/theme"
)

// look is how the HTML of a mail looks. Mail programs ignore style sheets in part, so the light
// colors are also in style attributes.
type look struct {
	Light, Dark palette
	Font        template.CSS // of texts
	Heading     template.CSS // font of the heading
	Sheet       bool         // the content is on a sheet with a border, and not on the ground
}

// palette has colors with enough contrast to each other.
type palette struct {
	Ground, Sheet, Line template.CSS
	Ink, Soft           template.CSS // texts on Sheet
	Foot                template.CSS // texts on Ground
	Link                template.CSS
	Button, OnButton    template.CSS
}

const sansFont = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

// parse parses the template of mails. Colors and fonts become part of its text: to check and insert
// each of them in every mail would take most of the time that writing one takes.
func (l look) parse(text string) (*template.Template, error) {
	var pairs []string
	for name, p := range map[string]palette{"$light": l.Light, "$dark": l.Dark} {
		for color, value := range map[string]template.CSS{"Ground": p.Ground, "Sheet": p.Sheet, "Line": p.Line, "Ink": p.Ink, "Soft": p.Soft, "Foot": p.Foot, "Link": p.Link, "Button": p.Button, "OnButton": p.OnButton} {
			pairs = append(pairs, "{{"+name+"."+color+"}}", string(value))
		}
	}
	pairs = append(pairs, "{{$look.Font}}", string(l.Font), "{{$look.Heading}}", string(l.Heading))
	t, err := template.New("mail").Parse(strings.NewReplacer(pairs...).Replace(text))
	if err != nil {
		return nil, fmt.Errorf("parse mail template: %w", err)
	}
	return t, nil
}

// workspaceLook is for mails to people with an account.
var workspaceLook = look{
	Light: palette{Ground: "#f6f7f5", Sheet: "#ffffff", Line: "#e0e4e1", Ink: "#1a1f1d", Soft: "#5d6663", Foot: "#5d6663", Link: "#1f6b57", Button: "#1f6b57", OnButton: "#ffffff"},
	Dark:  palette{Ground: "#121413", Sheet: "#191c1b", Line: "#2c312f", Ink: "#eef1ef", Soft: "#a7aeab", Foot: "#a7aeab", Link: "#7fd1b9", Button: "#1f6b57", OnButton: "#ffffff"},
	Font:  sansFont, Heading: "700 22px/1.25 " + sansFont, Sheet: true,
}

const (
	serifFont = "'Iowan Old Style', 'Palatino Linotype', Georgia, 'Noto Serif', serif"
	monoFont  = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)

// formLook is for mails to respondents: that of the form's pages.
func formLook(d form.Design) look {
	spec := d.Theme()
	light, dark := theme.Light(spec), theme.Dark(spec)
	l := look{Light: formPalette(light), Dark: formPalette(dark), Font: sansFont, Heading: "700 30px/1.2 " + sansFont, Sheet: light.Sheet != light.Ground || dark.Sheet != dark.Ground}
	switch spec.Mood {
	case theme.Paper:
		l.Font, l.Heading = serifFont, "500 34px/1.15 "+serifFont
	case theme.Elegant:
		l.Font, l.Heading = serifFont, "400 36px/1.1 Didot, 'Bodoni 72', "+serifFont
	case theme.Typed:
		l.Font, l.Heading = monoFont, "700 24px/1.3 "+monoFont
	case theme.Bold:
		l.Heading = "900 38px/1 " + sansFont
	case theme.Clinical:
		l.Heading = "650 24px/1.25 " + sansFont
	}
	return l
}

func formPalette(c theme.Colors) palette {
	css := func(color theme.Color) template.CSS { return template.CSS(color.String()) }
	return palette{
		Ground: css(c.Ground), Sheet: css(c.Sheet), Line: css(c.Line), Ink: css(c.Ink), Soft: css(c.Soft), Foot: css(c.HeadSoft),
		Link: css(c.Accent), Button: css(c.Fill), OnButton: css(c.OnFill),
	}
}
