package locale

import (
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

func TestMessages(t *testing.T) {
	catalog := Catalog{texts: map[string]string{
		"at most %s": "höchstens %s", "at most %d characters": "höchstens %d Zeichen", "%q is taken": "%q ist vergeben", "The form is not %s.": "Das Formular ist nicht %s.",
		"not before %s": "frühestens %s", ".": ",", "2 January 2006": "02.01.2006", "open": "geöffnet", "100%": "hundert Prozent",
	}}
	day := form.Moment{Text: "2026-05-03", Layout: time.DateOnly, DisplayLayout: form.DisplayDate}
	for _, c := range []struct {
		message       fault.Term
		english, want string
	}{
		{fault.Messagef("100%"), "100%", "hundert Prozent"},
		{fault.Messagef("at most %d characters", 60), "at most 60 characters", "höchstens 60 Zeichen"},
		{fault.Messagef("at most %s", form.Decimal(1.5)), "at most 1.5", "höchstens 1,5"},
		{fault.Messagef("not before %s", day), "not before 3 May 2026", "frühestens 03.05.2026"},
		{fault.Messagef("%q is taken", "100%"), `"100%" is taken`, `"100%" ist vergeben`},
		{fault.Messagef("something else"), "something else", "something else"},
		{fault.New(fault.FormNotOpen, "The form is not %s.", form.Open), "The form is not open.", "Das Formular ist nicht geöffnet."},
		{fault.InvalidField("slug", "%q is taken", "a"), `slug: "a" is taken`, `slug: "a" ist vergeben`},
		{fault.NewDetail("uri", "%s (%s)", fault.Messagef("at most %d characters", 9), "x://y"), "at most 9 characters (x://y)", "höchstens 9 Zeichen (x://y)"},
		{fault.Detail{Field: "a", Message: "without a format"}, "without a format", "without a format"},
	} {
		if got := c.message.Localize(catalog); got != c.want {
			t.Errorf("%q is %q, want %q", c.english, got, c.want)
		}
		if got := c.message.Localize(Catalog{}); got != c.english {
			t.Errorf("in English it is %q, want %q", got, c.english)
		}
	}
}

// The plural form depends on the language and may leave the number out.
func TestPlurals(t *testing.T) {
	all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	text := "choose up to %d options"
	for _, c := range []struct {
		language string
		n        int
		want     string
	}{
		{"en", 2, "choose up to 2 options"}, {"de", 2, "wählen Sie bis zu 2 Optionen"},
		{"ar", 2, "اختر خيارين كحد أقصى"}, {"ar", 3, "اختر 3 خيارات كحد أقصى"}, {"ar", 11, "اختر 11 خيارًا كحد أقصى"}, {"ar", 100, "اختر 100 خيار كحد أقصى"},
	} {
		catalog := all.Catalog(c.language)
		if got := catalog.Translate(text, c.n); got != c.want {
			t.Errorf("%s, %d: %q, want %q", c.language, c.n, got, c.want)
		}
		if got := fault.Messagef(text, c.n).Localize(catalog); got != c.want {
			t.Errorf("%s, %d, as a message: %q, want %q", c.language, c.n, got, c.want)
		}
	}
	bad := newCatalog("ar")
	for _, file := range []string{`{"a %d": {"plenty": "b %d", "other": "c %d"}}`, `{"a %d": {"few": "b %d"}}`, `{"a": 1}`} {
		if bad.add([]byte(file)) == nil {
			t.Errorf("%s was accepted", file)
		}
	}
}
