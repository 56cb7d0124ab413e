package form

import "net/url"

// pictureChoice is one or several options with pictures.
type pictureChoice struct{}

func (pictureChoice) Name() string { return "picture_choice" }
func (pictureChoice) Properties() []string {
	return []string{"options", "several", "shuffle", "unit", "min_picks", "max_picks"}
}

const maxPictures = 100

func (pictureChoice) Check(f *Field, invalid func(property, format string, args ...any)) {
	multipleChoice{}.Check(f, invalid)
	if len(f.Options) > maxPictures {
		invalid("options", "add no more than %d", maxPictures)
	}
	if !f.Several && f.MinPicks != nil {
		invalid("min_picks", "allow several answers first")
	}
	if !f.Several && f.MaxPicks != nil {
		invalid("max_picks", "allow several answers first")
	}
}

func (pictureChoice) ParseForm(f *Field, in url.Values) any {
	if f.Several {
		return multipleChoice{}.ParseForm(f, in)
	}
	return formChoice(f, in)
}

func (pictureChoice) Validate(f *Field, value any) (any, error) {
	if f.Several {
		return multipleChoice{}.Validate(f, value)
	}
	return validateSelection(f, value)
}

func (pictureChoice) Schema(f *Field) map[string]any {
	if f.Several {
		return multipleChoice{}.Schema(f)
	}
	return choiceSchema(f)
}

func (pictureChoice) Traits() Traits {
	return Traits{
		Summary: CountOptions, List: true, OptionLimits: true, Pictures: true, Group: true, NoDefault: true, Asset: "picture", Sketch: "pictures",
		ExtraSize: func(f *Field) int { return len(f.Options) * 300 },
		Example: func(f *Field, s Sampler) any {
			if f.Several {
				return []any{s.pick(f.Options)}
			}
			return s.pick(f.Options)
		},
	}
}

func (pictureChoice) Info() KindInfo {
	return KindInfo{"Picture choice", "Options shown as pictures", "Choices", "picture", "image, photo, radio, checkbox"}
}
