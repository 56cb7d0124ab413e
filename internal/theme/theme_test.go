package theme

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestVectors compares with finished themes.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors map[string]map[string]map[string]string
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for brand, themes := range vectors {
		for name, want := range themes {
			mood, scheme, _ := strings.Cut(name, " ")
			spec := Spec{Brand: parse(t, brand), Mood: Mood(mood)}
			got := Light(spec)
			if scheme == "dark" {
				got = Dark(spec)
			}
			for role, color := range want {
				if c := got.Role(role).String(); c != color {
					t.Errorf("%s %s: %s is %s, want %s", brand, name, role, c, color)
				}
				compared++
			}
		}
	}
	if compared < 128*len(roles) {
		t.Errorf("compared %d colors", compared)
	}
}

func parse(t *testing.T, text string) Color {
	t.Helper()
	c, ok := ParseColor(text)
	if !ok {
		t.Fatalf("%s is not a color", text)
	}
	return c
}

// TestContrast checks every pair of colors for 10,000 random brands, in all moods, light
// and dark, on the mood's background and, in turn, on one of the others. A failure names the
// brand.
func TestContrast(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	brands := []Color{white, black, {253, 253, 252}, {10, 10, 11}, {128, 128, 128}, {118, 118, 118}, {255, 212, 0}, {57, 255, 20}}
	brands = append(brands, append(slices.Clone(brands), brands...)...) // each on all backgrounds
	for len(brands) < 10_000 {
		n := random.Uint32()
		brands = append(brands, Color{uint8(n), uint8(n >> 8), uint8(n >> 16)})
	}
	const workers = 4
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(brands) && !t.Failed(); i += workers {
				checkContrast(t, brands[i], Backgrounds()[1+i/workers%3])
			}
		})
	}
	group.Wait()
}

type index struct {
	color, on int
	atLeast   float64
}

var indices = newIndices(pairs)

// onGround are the colors of what may stand on the page itself, unless it has the color of
// the fill.
var onGround = newIndices([]pair{
	{"ink", "ground", minText}, {"soft", "ground", minText}, {"accent", "ground", minText}, {"bad", "ground", minText}, {"good", "ground", minText},
	{"edge", "ground", minControl}, {"chosen", "ground", minControl},
})

func newIndices(list []pair) (indices []index) {
	position := map[string]int{}
	for i, role := range roles {
		position[role.name] = i
	}
	for _, p := range list {
		indices = append(indices, index{position[p.color], position[p.on], p.atLeast})
	}
	return indices
}

func checkContrast(t *testing.T, brand Color, other Background) {
	for _, mood := range Moods() {
		for _, background := range []Background{FromMood, other} {
			for _, dark := range []bool{false, true} {
				checkPairs(t, Spec{brand, mood, background}, dark)
			}
		}
	}
}

func checkPairs(t *testing.T, spec Spec, dark bool) {
	colors := compute(spec, dark)
	var luminances [32]float64
	for i, role := range roles {
		luminances[i] = role.of(&colors).luminance()
	}
	check := func(list []index) {
		for _, p := range list {
			if c := ratio(luminances[p.color], luminances[p.on]); c < p.atLeast {
				t.Errorf("%v dark=%v: %s on %s has %.3f, want %.1f", spec, dark, roles[p.color].name, roles[p.on].name, c, p.atLeast)
			}
		}
	}
	check(indices)
	if colors.Ground != colors.Fill {
		check(onGround)
	}
}

// TestBrandStays checks that the brand is kept exactly where it can be seen.
func TestBrandStays(t *testing.T) {
	for _, brand := range []string{"#b4532a", "#ffd400", "#39ff14", "#1f6b57", "#e02020"} {
		for _, mood := range Moods() {
			if c := Light(Spec{Brand: parse(t, brand), Mood: mood}).Fill.String(); c != brand {
				t.Errorf("%s %s: fill is %s", brand, mood, c)
			}
		}
	}
}

func TestParseColor(t *testing.T) {
	for text, want := range map[string]string{"#b4532a": "#b4532a", "#B4532A": "#b4532a", "#000000": "#000000"} {
		if c := parse(t, text).String(); c != want {
			t.Errorf("%s is %s, want %s", text, c, want)
		}
	}
	for _, text := range []string{"", "#", "b4532a", "#b4532", "#b4532aa", "#b4532g", "#abc", "red", "#b4532a ", "＃b4532a"} {
		if c, ok := ParseColor(text); ok || c != black {
			t.Errorf("%q is %s, want no color", text, c)
		}
	}
}

func TestCSS(t *testing.T) {
	for _, mood := range Moods() {
		css := CSS(Spec{Brand: parse(t, "#b4532a"), Mood: mood})
		if len(css) > 800 {
			t.Errorf("%s: %d bytes", mood, len(css))
		}
		if n := strings.Count(css, ";"); n != len(roles) || !strings.HasSuffix(css, ";") {
			t.Errorf("%s: %d properties, want %d: %s", mood, n, len(roles), css)
		}
		if strings.ContainsAny(css, "<>{}\"'\\ \n") {
			t.Errorf("%s: %s", mood, css)
		}
		if mood == Night && strings.Contains(css, "light-dark") {
			t.Errorf("night differs between light and dark: %s", css)
		}
	}
	if plain, unknown := CSS(Spec{Brand: white, Mood: Plain}), CSS(Spec{Brand: white, Mood: "unknown", Background: "unknown"}); plain != unknown {
		t.Errorf("an unknown mood is not plain: %s", unknown)
	}
}

func TestLooksDisabled(t *testing.T) {
	for text, want := range map[string]bool{"#808080": true, "#999999": true, "#0a0a0b": false, "#ffffff": false, "#b4532a": false} {
		if got := LooksDisabled(parse(t, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// BenchmarkCSS measures what a page costs whose theme is not cached.
func BenchmarkCSS(b *testing.B) {
	b.ReportAllocs()
	brand := Color{0xb4, 0x53, 0x2a}
	for i := 0; b.Loop(); i++ {
		brand[2] = uint8(i)
		CSS(Spec{Brand: brand, Mood: Moods()[i%8]})
	}
}
