package theme

// backgrounds are the luminances of the darkest and of the lightest background. The
// contrast of a color with any other background is at least as high as with one of these,
// because backgrounds are all light or all dark.
type backgrounds struct{ low, high float64 }

func newBackgrounds(colors ...Color) backgrounds {
	b := backgrounds{low: 1}
	for _, c := range colors {
		b = b.with(c)
	}
	return b
}

func (b backgrounds) with(c Color) backgrounds {
	l := c.luminance()
	return backgrounds{low: min(b.low, l), high: max(b.high, l)}
}

// weakest is the lowest contrast of the color with one of the backgrounds.
func (b backgrounds) weakest(c Color) float64 {
	l := c.luminance()
	return min(ratio(l, b.low), ratio(l, b.high))
}

// lightnessSteps is how often the range of the lightness is halved.
const lightnessSteps = 18

// solve returns the color with the lightness nearest to that of the tone that has the
// wanted contrast on all backgrounds. It searches towards the lightness end, which must
// have that contrast. Hue and, as far as sRGB allows, chroma stay.
func solve(from tone, end float64, on backgrounds, want float64) Color {
	c := from.color()
	if on.weakest(c) >= want {
		return c
	}
	tooLow, enough := from.light, end
	for range lightnessSteps {
		from.light = (tooLow + enough) / 2
		if on.weakest(from.color()) >= want {
			enough = from.light
		} else {
			tooLow = from.light
		}
	}
	from.light = enough
	return from.color()
}
