package theme

// Mood is the character of a form: type, shape, space and background change together.
// This package has its colors; style sheets have the rest.
type Mood string

// The moods, in the order in which owners choose.
const (
	Plain    Mood = "plain"
	Paper    Mood = "paper"
	Night    Mood = "night"
	Bold     Mood = "bold"
	Playful  Mood = "playful"
	Clinical Mood = "clinical"
	Elegant  Mood = "elegant"
	Typed    Mood = "typed"
)

// Moods lists all moods.
func Moods() []Mood {
	return []Mood{Plain, Paper, Night, Bold, Playful, Clinical, Elegant, Typed}
}

// Background is what the page of a form has behind its questions.
type Background string

// The backgrounds, in the order in which owners choose.
const (
	FromMood Background = "mood"
	Neutral  Background = "neutral" // white, or nearly black on dark screens
	Tint     Background = "tint"    // a pale shade of the brand color, or a very dark one
	Brand    Background = "brand"   // the brand color, or a deep shade of it on dark screens
)

// Backgrounds lists all backgrounds.
func Backgrounds() []Background { return []Background{FromMood, Neutral, Tint, Brand} }

// Spec is what owners choose. All colors follow from it.
type Spec struct {
	Brand      Color
	Mood       Mood
	Background Background // empty: that of the mood
}

// known returns the spec with defaults for what is unknown.
func (s Spec) known() Spec {
	if _, ok := palettes[s.Mood]; !ok {
		s.Mood = Plain
	}
	if _, ok := grounds[s.Background]; !ok {
		s.Background = FromMood
	}
	return s
}

// grounds are the backgrounds that replace those of a mood, in light and dark. On dark screens
// a page in the brand color itself would be glaring.
var grounds = map[Background][2]recipe{
	Neutral: {whiteSurface, {.15, 0, 0}},
	Tint:    {{.95, .032, brandHue}, {.19, .045, brandHue}},
	Brand:   {{}, {.27, .08, brandHue}},
}

// on returns the surfaces of a mood on another background. Questions that stand on the page
// itself follow it; sheets and cards stay as they are.
func (p palette) on(background Background, dark bool) surfaces {
	s, scheme := p.light, 0
	if dark {
		s = p.dark
	}
	if dark || p.alwaysDark {
		scheme = 1
	}
	pair, ok := grounds[background]
	if !ok {
		return s
	}
	if background == Brand {
		s.ground, s.onFill = pair[scheme], scheme == 0 || p.alwaysDark
		return s
	}
	if s.sheet == s.ground {
		if s.field == s.sheet && !p.boxes {
			s.field = pair[scheme]
		}
		s.sheet = pair[scheme]
	}
	s.ground, s.onFill = pair[scheme], false
	return s
}

// brandHue in a recipe stands for the hue of the brand color.
const brandHue = -1

// recipe is a background in OKLCH: very light or very dark, so that black or white is
// always readable on it.
type recipe struct{ light, chroma, hue float64 }

// surfaces are the backgrounds of a mood in one scheme.
type surfaces struct {
	ground, sheet, field recipe
	onFill               bool // the page has the brand color; ground is not used
}

type palette struct {
	light, dark surfaces
	alwaysDark  bool
	boxes       bool // inputs have a background of their own, even if it is that of the page
}

func same(r recipe) surfaces { return surfaces{ground: r, sheet: r, field: r} }

var whiteSurface = recipe{1, 0, 0}

var night = surfaces{ground: recipe{.19, .038, brandHue}, sheet: recipe{.235, .044, brandHue}, field: recipe{.2, .04, brandHue}}

var palettes = map[Mood]palette{
	Plain: {
		boxes: true,
		light: same(whiteSurface),
		dark:  surfaces{ground: recipe{.19, .006, brandHue}, sheet: recipe{.19, .006, brandHue}, field: recipe{.235, .008, brandHue}},
	},
	Paper: {light: same(recipe{.967, .013, 85}), dark: same(recipe{.21, .012, 70})},
	Night: {light: night, dark: night, alwaysDark: true},
	Bold: {
		light: surfaces{sheet: whiteSurface, field: whiteSurface, onFill: true},
		dark:  surfaces{ground: recipe{.14, .008, brandHue}, sheet: recipe{.2, .01, brandHue}, field: recipe{.14, .008, brandHue}},
	},
	Playful: {
		light: surfaces{ground: recipe{.95, .035, brandHue}, sheet: whiteSurface, field: recipe{.985, .01, brandHue}},
		dark:  surfaces{ground: recipe{.21, .035, brandHue}, sheet: recipe{.26, .04, brandHue}, field: recipe{.22, .035, brandHue}},
	},
	Clinical: {
		light: surfaces{ground: recipe{.972, .006, 250}, sheet: whiteSurface, field: whiteSurface},
		dark:  surfaces{ground: recipe{.17, .012, 250}, sheet: recipe{.215, .014, 250}, field: recipe{.17, .012, 250}},
	},
	Elegant: {light: same(recipe{.985, .004, brandHue}), dark: same(recipe{.165, .006, brandHue})},
	Typed: {
		light: surfaces{ground: recipe{.965, .01, brandHue}, sheet: recipe{.995, .003, brandHue}, field: recipe{.995, .003, brandHue}},
		dark:  surfaces{ground: recipe{.17, .014, brandHue}, sheet: recipe{.205, .016, brandHue}, field: recipe{.17, .014, brandHue}},
	},
}
