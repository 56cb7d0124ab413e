package form

import (
	"net/url"
	"strings"
)

// webAddress is the URL of a web page.
type webAddress struct{}

func (webAddress) Name() string                                             { return "url" }
func (webAddress) Properties() []string                                     { return []string{"placeholder"} }
func (webAddress) Check(*Field, func(property, format string, args ...any)) {}

// ParseForm adds https:// if the scheme is missing.
func (webAddress) ParseForm(f *Field, in url.Values) any {
	text := strings.TrimSpace(in.Get(f.Key))
	if host, _, _ := strings.Cut(text, "/"); strings.Contains(host, ".") && !strings.ContainsAny(host, ":@ ") {
		return "https://" + text
	}
	return formValue(f, in)
}

const maxURL = 2000 // bytes

var errURL = answerError("enter a web address, such as https://example.com")

func (webAddress) Validate(_ *Field, value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	// Owners click on answers, so only http and https are accepted.
	if len(text) > maxURL {
		return nil, errURL
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, errURL
	}
	return text, nil
}

func (webAddress) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "uri", "pattern": "^https?://", "maxLength": maxURL}
}

func (webAddress) Traits() Traits {
	return Traits{
		Input:   "url",
		Rules:   patternRule(`^(https?://|[^/:@ ]*\.[^/:@ ]*(/|$))`, errURL),
		Link:    func(address string) string { return address },
		Example: func(_ *Field, s Sampler) any { return "https://example.com/" + strings.ToLower(s.Name) },
	}
}

func (webAddress) Info() KindInfo {
	return KindInfo{"Website", "A website or link", "Text", "link", "URL, link, web address"}
}
