package theme

import (
	"encoding/hex"
	"math"
)

// Color is a color of sRGB, with 8 bits for red, green and blue.
type Color [3]uint8

var (
	white = Color{255, 255, 255}
	black = Color{}
)

// ParseColor reads a color such as #b4532a. Letters may be upper case.
func ParseColor(text string) (c Color, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return c, false
	}
	if _, err := hex.Decode(c[:], []byte(text[1:])); err != nil {
		return Color{}, false
	}
	return c, true
}

// String returns the color as #rrggbb in lower case.
func (c Color) String() string { return string(c.appendTo(make([]byte, 0, 7))) }

func (c Color) appendTo(text []byte) []byte {
	return hex.AppendEncode(append(text, '#'), c[:])
}

// Tables spare the powers of the sRGB curve, which otherwise take most of the time.
var tables = newColorTables()

type colorTables struct {
	linear [256]float64 // linear light of each 8-bit value
	bounds [256]float64 // linear light from which on a value is rounded to the next one
	guess  [lightSteps + 1]uint8
}

const lightSteps = 4096

func newColorTables() *colorTables {
	t := &colorTables{}
	for i := range t.linear {
		t.linear[i] = linear(float64(i) / 255)
		t.bounds[i] = linear((float64(i) + .5) / 255)
	}
	t.bounds[255] = math.Inf(1)
	value := uint8(0)
	for i := range t.guess {
		for t.bounds[value] <= float64(i)/lightSteps {
			value++
		}
		t.guess[i] = value
	}
	return t
}

// linear is the transfer function of sRGB.
func linear(v float64) float64 {
	if v <= .04045 {
		return v / 12.92
	}
	return math.Pow((v+.055)/1.055, 2.4)
}

// eightBits returns the 8-bit value nearest to linear light, cut off at 0 and 255.
func eightBits(light float64) uint8 {
	value := tables.guess[int(max(0, min(light, 1))*lightSteps)]
	for tables.bounds[value] <= light {
		value++
	}
	return value
}

// luminance is the relative luminance of WCAG 2.
func (c Color) luminance() float64 {
	return .2126*tables.linear[c[0]] + .7152*tables.linear[c[1]] + .0722*tables.linear[c[2]]
}

// Contrast is the contrast ratio of WCAG 2, from 1 to 21.
func Contrast(a, b Color) float64 { return ratio(a.luminance(), b.luminance()) }

func ratio(a, b float64) float64 { return (max(a, b) + .05) / (min(a, b) + .05) }

// tone is a color in OKLCH. The hue is kept as its direction in the plane of chroma, so
// that trying many lightnesses needs no trigonometry.
type tone struct {
	light, chroma float64
	hue           hue
}

type hue struct{ cos, sin float64 }

func hueOf(degrees float64) hue {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return hue{cos, sin}
}

// degrees is the angle of the hue, from 0 to 360.
func (h hue) degrees() float64 {
	return math.Mod(math.Atan2(h.sin, h.cos)*180/math.Pi+360, 360)
}

// tone converts the color to OKLCH.
func (c Color) tone() tone {
	r, g, b := tables.linear[c[0]], tables.linear[c[1]], tables.linear[c[2]]
	l := math.Cbrt(.4122214708*r + .5363325363*g + .0514459929*b)
	m := math.Cbrt(.2119034982*r + .6806995451*g + .1073969566*b)
	s := math.Cbrt(.0883024619*r + .2817188376*g + .6299787005*b)
	x := 1.9779984951*l - 2.428592205*m + .4505937099*s
	y := .0259040371*l + .7827717662*m - .808675766*s
	t := tone{light: .2104542553*l + .793617785*m - .0040720468*s, chroma: math.Hypot(x, y), hue: hue{1, 0}}
	if t.chroma > 0 {
		t.hue = hue{x / t.chroma, y / t.chroma}
	}
	return t
}

// distance is the distance of two tones in OKLab.
func (t tone) distance(u tone) float64 {
	x := t.chroma*t.hue.cos - u.chroma*u.hue.cos
	y := t.chroma*t.hue.sin - u.chroma*u.hue.sin
	return math.Hypot(math.Hypot(t.light-u.light, x), y)
}

// linear converts to linear light, which may be outside of sRGB.
func (t tone) linear() (r, g, b float64) {
	x, y := t.chroma*t.hue.cos, t.chroma*t.hue.sin
	l := t.light + .3963377774*x + .2158037573*y
	m := t.light - .1055613458*x - .0638541728*y
	s := t.light - .0894841775*x - 1.291485548*y
	l, m, s = l*l*l, m*m*m, s*s*s
	return 4.0767416621*l - 3.3077115913*m + .2309699292*s,
		-1.2684380046*l + 2.6097574011*m - .3413193965*s,
		-.0041960863*l - .7034186147*m + 1.707614701*s
}

// isInside reports whether sRGB has the color, with a tolerance below one 8-bit step.
func isInside(r, g, b float64) bool {
	return r >= -.0001 && g >= -.0001 && b >= -.0001 && r <= 1.0001 && g <= 1.0001 && b <= 1.0001
}

// chromaSteps is how often the range of the chroma is halved.
const chromaSteps = 20

// color converts to sRGB. If the tone is outside, it reduces the chroma only: lightness
// and hue stay.
func (t tone) color() Color {
	r, g, b := t.linear()
	if !isInside(r, g, b) {
		low, high := 0., t.chroma
		for range chromaSteps {
			t.chroma = (low + high) / 2
			if isInside(t.linear()) {
				low = t.chroma
			} else {
				high = t.chroma
			}
		}
		t.chroma = low
		r, g, b = t.linear()
	}
	return Color{eightBits(r), eightBits(g), eightBits(b)}
}
