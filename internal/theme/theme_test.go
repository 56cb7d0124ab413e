package theme

import (
	"encoding/json"
	"math/rand/v2"
	"os"
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
			got := Light(parse(t, brand), Mood(mood))
			if scheme == "dark" {
				got = Dark(parse(t, brand), Mood(mood))
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
// and dark. A failure names the brand.
func TestContrast(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	brands := []Color{white, black, {253, 253, 252}, {10, 10, 11}, {128, 128, 128}, {118, 118, 118}, {255, 212, 0}, {57, 255, 20}}
	for len(brands) < 10_000 {
		n := random.Uint32()
		brands = append(brands, Color{uint8(n), uint8(n >> 8), uint8(n >> 16)})
	}
	const workers = 4
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(brands) && !t.Failed(); i += workers {
				checkContrast(t, brands[i])
			}
		})
	}
	group.Wait()
}

type index struct {
	color, on int
	atLeast   float64
}

var indices = func() (list []index) {
	position := map[string]int{}
	for i, role := range roles {
		position[role.name] = i
	}
	for _, p := range pairs {
		list = append(list, index{position[p.color], position[p.on], p.atLeast})
	}
	return list
}()

func checkContrast(t *testing.T, brand Color) {
	for _, mood := range Moods() {
		for _, dark := range []bool{false, true} {
			colors := compute(brand, mood, dark)
			var luminances [32]float64
			for i, role := range roles {
				luminances[i] = role.of(&colors).luminance()
			}
			for i, p := range indices {
				if c := ratio(luminances[p.color], luminances[p.on]); c < p.atLeast {
					t.Errorf("%s %s dark=%v: %s on %s has %.3f, want %.1f", brand, mood, dark, pairs[i].color, pairs[i].on, c, p.atLeast)
				}
			}
		}
	}
}

// TestBrandStays checks that the brand is kept exactly where it can be seen.
func TestBrandStays(t *testing.T) {
	for _, brand := range []string{"#b4532a", "#ffd400", "#39ff14", "#1f6b57", "#e02020"} {
		for _, mood := range Moods() {
			if c := Light(parse(t, brand), mood).Fill.String(); c != brand {
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
		css := CSS(parse(t, "#b4532a"), mood)
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
	if plain, unknown := CSS(white, Plain), CSS(white, "unknown"); plain != unknown {
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
		CSS(brand, Moods()[i%8])
	}
}
