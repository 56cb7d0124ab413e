package page

import (
	"bytes"
	"regexp"
	"strings"

	"formulary/internal/theme"
)

// canvasName is the name of a style sheet for the canvas by its name for the page.
func canvasName(name string) string { return "canvas" + strings.TrimPrefix(name, "form") }

// CanvasStyleSheets are the style sheets of the builder's canvas, which looks like the
// public form.
func (l Look) CanvasStyleSheets() []string {
	list := []string{canvasName(formStyleSheet(theme.Mood(l.Mood)))}
	for _, name := range l.StyleSheets() {
		list = append(list, canvasName(name))
	}
	return list
}

var (
	// notOnCanvas matches selectors of what the canvas does not have: it shows a page at
	// rest, and its controls do nothing.
	notOnCanvas = regexp.MustCompile(`:(checked|focus|hover|disabled)|\.(problem|embedded|offscreen|breadcrumb|quiet|page-count|other|no-answer|visually-hidden|slider-value|conditional|icon|step|strip|rank-item|calculation)|^(html|h1|button|pre|legend.*|fieldset|\[hidden\])$|(box\]|radio\]|\]\))::before|input::after|-button input|\.sheet>|progress|data-theme|@keyframes|print|prefers-|forced-`)
	motion      = regexp.MustCompile(`;?(transition|cursor|--fast|--calm):[^;}]*`)
	canvasRoot  = regexp.MustCompile(`^(:root|body)$`)
	pageWidth   = regexp.MustCompile(`^@media \((min|max)-width`)
	viewWidth   = regexp.MustCompile(`(\d)vw\b`)
)

// newCanvasStyle turns a style sheet of public forms into one with one mood for a part of
// a page. What depends on the width of the screen depends on the width of the canvas. Light
// or dark is chosen for the whole page.
func newCanvasStyle(mood theme.Mood, css []byte) []byte {
	var out bytes.Buffer
	out.WriteString("@layer canvas{@scope (.canvas) to (.tools){")
	writeCanvasRules(&out, strings.Replace(string(newFormStyle(css, mood)), "color-scheme:light dark;", "", 1))
	out.WriteString("}}")
	return viewWidth.ReplaceAll(motion.ReplaceAll(out.Bytes(), nil), []byte("${1}cqi"))
}

// writeCanvasRules copies the rules of a minified style sheet that the canvas needs.
func writeCanvasRules(out *bytes.Buffer, css string) {
	for css != "" {
		end := strings.IndexAny(css, "{;")
		if end < 0 {
			return
		}
		if css[end] == ';' {
			out.WriteString(css[:end+1])
			css = css[end+1:]
			continue
		}
		prelude, body, rest := cutBlock(css, end)
		css = rest
		if strings.HasPrefix(prelude, "@layer") || pageWidth.MatchString(prelude) {
			var inner bytes.Buffer
			if writeCanvasRules(&inner, body); inner.Len() > 0 {
				out.WriteString(pageWidth.ReplaceAllString(prelude, "@container (${1}-width") + "{" + inner.String() + "}")
			}
		} else if selectors := canvasSelectors(prelude); selectors != "" {
			out.WriteString(selectors + "{" + withoutStates(body) + "}")
		}
	}
}

// cutBlock cuts the block that opens at a position from a style sheet.
func cutBlock(css string, open int) (prelude, body, rest string) {
	end, depth := open+1, 1
	for ; end < len(css) && depth > 0; end++ {
		switch css[end] {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
	return css[:open], css[open+1 : end-1], css[end:]
}

// canvasSelectors returns those selectors of a list that match something on the canvas.
func canvasSelectors(list string) string {
	var kept []string
	for len(list) > 0 {
		end, depth := 0, 0
		for ; end < len(list) && (depth > 0 || list[end] != ','); end++ {
			switch list[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		if selector := list[:end]; !notOnCanvas.MatchString(selector) {
			kept = append(kept, canvasRoot.ReplaceAllString(selector, ":scope"))
		}
		list = strings.TrimPrefix(list[end:], ",")
	}
	return strings.Join(kept, ",")
}

// withoutStates removes nested rules of states that the canvas does not have.
func withoutStates(body string) string {
	open := strings.IndexByte(body, '{')
	if open < 0 {
		return body
	}
	start := strings.LastIndexAny(body[:open], ";}") + 1
	_, inner, rest := cutBlock(body, open)
	rule := body[start:open] + "{" + inner + "}"
	if notOnCanvas.MatchString(body[start:open]) {
		rule = ""
	}
	return body[:start] + rule + withoutStates(rest)
}
