package theme

// CSS returns the colors as custom properties of CSS, such as
// "--ground:light-dark(#ffffff,#151411);", without a selector. It contains nothing but
// names of roles and computed colors.
func CSS(s Spec) string {
	light, dark := Light(s), Dark(s)
	text := make([]byte, 0, 640)
	for _, role := range roles {
		l, d := role.of(&light), role.of(&dark)
		text = append(text, "--"...)
		text = append(text, role.name...)
		text = append(text, ':')
		switch {
		case role.name == "chosen" && *l == light.Accent && *d == dark.Accent: // unless the brand is red
			text = append(text, "var(--accent)"...)
		case *l == *d:
			text = l.appendTo(text)
		default:
			text = l.appendShort(append(text, "light-dark("...))
			text = d.appendShort(append(text, ','))
			text = append(text, ')')
		}
		text = append(text, ';')
	}
	return string(text)
}

// appendShort appends the color as CSS, with three digits if they are enough.
func (c Color) appendShort(text []byte) []byte {
	for _, v := range c {
		if v>>4 != v&15 {
			return c.appendTo(text)
		}
	}
	const digits = "0123456789abcdef"
	return append(text, '#', digits[c[0]&15], digits[c[1]&15], digits[c[2]&15])
}

type pair struct {
	color, on string
	atLeast   float64
}

// pairs lists which colors must be readable on which others.
var pairs = []pair{
	{"ink", "sheet", minText}, {"ink", "field", minText}, {"ink", "wash", minText}, {"ink", "bad-wash", minText},
	{"soft", "sheet", minText}, {"soft", "field", minText}, {"soft", "wash", minText},
	{"accent", "sheet", minText}, {"accent", "field", minText}, {"accent", "wash", minText},
	{"bad", "sheet", minText}, {"bad", "field", minText}, {"bad", "wash", minText}, {"bad", "bad-wash", minText},
	{"good", "sheet", minText}, {"good", "field", minText}, {"good", "wash", minText},
	{"on-fill", "fill", minText}, {"on-fill", "fill-hover", minText},
	{"head-ink", "ground", minText}, {"head-soft", "ground", minText},
	{"edge", "sheet", minControl}, {"edge", "field", minControl}, {"edge", "wash", minControl},
	{"chosen", "sheet", minControl}, {"chosen", "field", minControl}, {"chosen", "wash", minControl},
	{"fill-edge", "sheet", minControl}, {"fill-edge", "wash", minControl},
}

// Role returns a color by the name of its role in the style sheets, such as on-fill.
func (c Colors) Role(name string) Color {
	for _, role := range roles {
		if role.name == name {
			return *role.of(&c)
		}
	}
	panic("theme: no role " + name)
}

// WeakestText returns the lowest contrast of a text on its background, light and dark.
func WeakestText(s Spec) float64 {
	lowest := 21.
	for _, colors := range []Colors{Light(s), Dark(s)} {
		for _, p := range pairs {
			if p.atLeast >= minText {
				lowest = min(lowest, Contrast(colors.Role(p.color), colors.Role(p.on)))
			}
		}
	}
	return lowest
}

// LooksDisabled reports whether buttons in this color look disabled, as grey ones do.
func LooksDisabled(brand Color) bool {
	t := brand.tone()
	return t.chroma < greyChroma && t.light > .45 && t.light < .9
}
