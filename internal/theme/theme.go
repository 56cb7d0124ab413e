// Package theme turns one brand color and one mood into all colors of a public form, for
// light and dark screens. Owners may choose any color: every text on the result has a
// contrast of at least 4.5 to 1, and every control one of at least 3 to 1.
package theme

import "math"

// Colors are the colors of a form in one scheme, by role.
type Colors struct {
	Ground    Color // the page
	Sheet     Color // what questions stand on
	Field     Color // the inside of inputs
	Wash      Color // selected options, hover, notices
	Ink       Color // text
	Soft      Color // help texts, placeholders
	Line      Color // hairlines: decoration only
	Edge      Color // borders of inputs, empty stars
	Accent    Color // links, progress, icons: the brand color made readable
	Chosen    Color // edge of what is selected, focus ring
	Fill      Color // main button, check marks, stars
	OnFill    Color // letters on Fill
	FillHover Color
	FillEdge  Color // border of everything filled
	HeadInk   Color // title, directly on Ground
	HeadSoft  Color // lead, directly on Ground
	Bad       Color // errors
	BadWash   Color // background of errors
	Good      Color // success
}

// roles names the colors as in the style sheets.
var roles = []struct {
	name string
	of   func(*Colors) *Color
}{
	{"ground", func(c *Colors) *Color { return &c.Ground }},
	{"sheet", func(c *Colors) *Color { return &c.Sheet }},
	{"field", func(c *Colors) *Color { return &c.Field }},
	{"wash", func(c *Colors) *Color { return &c.Wash }},
	{"ink", func(c *Colors) *Color { return &c.Ink }},
	{"soft", func(c *Colors) *Color { return &c.Soft }},
	{"line", func(c *Colors) *Color { return &c.Line }},
	{"edge", func(c *Colors) *Color { return &c.Edge }},
	{"accent", func(c *Colors) *Color { return &c.Accent }},
	{"chosen", func(c *Colors) *Color { return &c.Chosen }},
	{"fill", func(c *Colors) *Color { return &c.Fill }},
	{"on-fill", func(c *Colors) *Color { return &c.OnFill }},
	{"fill-hover", func(c *Colors) *Color { return &c.FillHover }},
	{"fill-edge", func(c *Colors) *Color { return &c.FillEdge }},
	{"head-ink", func(c *Colors) *Color { return &c.HeadInk }},
	{"head-soft", func(c *Colors) *Color { return &c.HeadSoft }},
	{"bad", func(c *Colors) *Color { return &c.Bad }},
	{"bad-wash", func(c *Colors) *Color { return &c.BadWash }},
	{"good", func(c *Colors) *Color { return &c.Good }},
}

// Targets of contrast. They exceed what is guaranteed, so that rounding to 8 bits cannot
// break the guarantee.
const (
	textTarget    = 4.6
	controlTarget = 3.1
	inkTarget     = 7
	minText       = 4.5
	minControl    = 3
)

const (
	greyChroma  = .03  // brands with less count as grey, and tint nothing
	minDistance = .13  // fills nearer to the page than this cannot be told from it
	noticeable  = .035 // smaller differences of lightness are not seen
	tintChroma  = .014 // of texts and borders
	errorHue    = 27
)

// Light returns the colors for light screens. Night is dark on all screens.
func Light(s Spec) Colors { return compute(s, false) }

// Dark returns the colors for dark screens.
func Dark(s Spec) Colors { return compute(s, true) }

// compute returns the colors of one scheme. An unknown mood is Plain.
func compute(s Spec, dark bool) Colors {
	s = s.known()
	p := palettes[s.Mood]
	t := painter{brand: s.Brand, tone: s.Brand.tone(), dark: dark || p.alwaysDark, surfaces: p.on(s.Background, dark)}
	t.isGrey = t.tone.chroma < greyChroma
	t.paintSurfaces()
	t.paintBrand()
	t.paintTexts()
	t.paintSignals()
	return t.colors
}

// painter computes the colors of one scheme, step by step.
type painter struct {
	brand    Color
	tone     tone // of the brand
	isGrey   bool
	dark     bool
	surfaces surfaces
	sheet    tone
	colors   Colors
	text     backgrounds // what texts and controls have to be readable on
}

// pick returns the value for the scheme.
func (t *painter) pick(light, dark float64) float64 {
	if t.dark {
		return dark
	}
	return light
}

// tint returns the chroma, or 0 if the brand is grey.
func (t *painter) tint(chroma float64) float64 {
	if t.isGrey {
		return 0
	}
	return chroma
}

func (t *painter) surface(r recipe) Color {
	if r.hue == brandHue {
		return tone{r.light, t.tint(r.chroma), t.tone.hue}.color()
	}
	return tone{r.light, r.chroma, hueOf(r.hue)}.color()
}

// solve goes from the tone towards black, or towards white in dark schemes, as far as the
// contrast on all backgrounds requires.
func (t *painter) solve(from tone, on backgrounds, want float64) Color {
	return solve(from, t.pick(0, 1), on, want)
}

func (t *painter) paintSurfaces() {
	c := &t.colors
	c.Sheet, c.Field = t.surface(t.surfaces.sheet), t.surface(t.surfaces.field)
	c.Ground = c.Sheet // until the fill is known
	if !t.surfaces.onFill {
		c.Ground = t.surface(t.surfaces.ground)
	}
	t.sheet = c.Sheet.tone()
	chroma := min(t.tone.chroma, t.pick(.021, .05))
	if !t.dark {
		chroma = max(chroma, t.sheet.chroma) // on a tinted page less would look grey
	}
	c.Wash = tone{t.sheet.light + t.pick(-.04, .055), t.tint(chroma), t.tone.hue}.color()
	t.text = newBackgrounds(c.Sheet, c.Field, c.Wash, c.Ground)
}

func (t *painter) paintBrand() {
	c := &t.colors
	start := t.pick(min(t.tone.light, .6), max(t.tone.light, .74))
	if t.isGrey {
		start = t.pick(.27, .92)
	}
	c.Accent = t.solve(tone{start, t.tone.chroma, t.tone.hue}, t.text, textTarget)

	// The brand stays exactly as chosen unless it cannot be told from the page.
	c.Fill = c.Accent
	if t.tone.distance(c.Ground.tone()) >= minDistance && t.tone.distance(t.sheet) >= minDistance {
		c.Fill = t.brand
	}
	c.Fill = allowWhiteLetters(c.Fill)
	fill := c.Fill.tone()
	c.OnFill = lettersOn(c.Fill, tone{.2, t.tint(min(fill.chroma, .03)), t.tone.hue}.color())
	// On hover the fill moves away from its letters.
	hover := fill
	if c.OnFill.luminance() > .5 {
		hover.light -= .06
	} else {
		hover.light = min(1, hover.light+.05)
	}
	c.FillHover = hover.color()
	// A fill that resembles the page gets an edge of the same hue, so that yellow stays
	// yellow.
	c.FillEdge = c.Fill
	if around := newBackgrounds(c.Sheet, c.Wash); around.weakest(c.Fill) < minControl {
		c.FillEdge = t.solve(fill, around, controlTarget)
	}
	if t.surfaces.onFill {
		c.Ground = c.Fill
	}
}

// allowWhiteLetters makes the fill darker if a step that nobody notices makes white
// letters readable on it.
func allowWhiteLetters(fill Color) Color {
	if Contrast(white, fill) >= minText {
		return fill
	}
	t := fill.tone()
	step := tone{t.light - noticeable, t.chroma, t.hue}.color()
	if Contrast(white, step) < minText {
		return fill
	}
	return solve(t, step.tone().light, newBackgrounds(white), minText)
}

// lettersOn returns white, ink or black, whichever is readable first.
func lettersOn(fill, ink Color) Color {
	switch {
	case Contrast(white, fill) >= minText:
		return white
	case Contrast(ink, fill) >= minText:
		return ink
	}
	return black
}

func (t *painter) paintTexts() {
	c, tint := &t.colors, t.tint(tintChroma)
	c.Ink = t.solve(tone{t.pick(.23, .95), tint, t.tone.hue}, t.text, inkTarget)
	c.Soft = t.solve(tone{t.pick(.52, .74), tint, t.tone.hue}, t.text, textTarget)
	c.Edge = t.solve(tone{t.pick(.68, .5), tint, t.tone.hue}, t.text, controlTarget)
	chroma := min(t.tone.chroma, t.pick(.018, .03))
	c.Line = tone{t.sheet.light + t.pick(-.1, .11), t.tint(chroma), t.tone.hue}.color()
	c.HeadInk, c.HeadSoft = c.Ink, c.Soft
	if t.surfaces.onFill {
		c.HeadInk, c.HeadSoft = c.OnFill, c.OnFill
	}
}

// paintSignals gives errors and success their own hues. Red means wrong: if the brand is
// red, selected things are drawn in ink and errors in crimson.
func (t *painter) paintSignals() {
	c := &t.colors
	brandHue, nearRed := t.tone.hue.degrees(), 180.
	if !t.isGrey {
		nearRed = math.Abs(math.Mod(brandHue-errorHue+540, 360) - 180)
	}
	c.Chosen = c.Accent
	if nearRed < 13 {
		c.Chosen = c.Ink
	}
	badHue := hueOf(errorHue)
	if nearRed < 35 && brandHue >= errorHue {
		badHue = hueOf(16)
	}
	wash := tone{min(t.sheet.light, .972) - .015, .022, hueOf(25)}
	if t.dark {
		wash.light, wash.chroma = t.sheet.light+.05, .06
	}
	c.BadWash = wash.color()
	c.Bad = t.solve(tone{t.pick(.55, .72), .19, badHue}, t.text.with(c.BadWash), textTarget)
	c.Good = t.solve(tone{t.pick(.52, .76), .14, hueOf(155)}, t.text, textTarget)
}
