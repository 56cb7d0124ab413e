package page

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssSpace   = regexp.MustCompile(`\s+`)
	cssAround  = regexp.MustCompile(` ?([{};,>]) ?|(:) `)
	cssQuotes  = regexp.MustCompile(`="([a-z][a-z-]*)"\]`) // attribute selectors do not need them
)

// minifyCSS removes comments and unneeded spaces. Our style sheet has no strings in which
// spaces matter.
func minifyCSS(css []byte) []byte {
	css = cssSpace.ReplaceAll(cssComment.ReplaceAll(css, nil), []byte(" "))
	css = cssQuotes.ReplaceAll(cssAround.ReplaceAll(css, []byte("$1$2")), []byte("=$1]"))
	return bytes.TrimSpace(bytes.ReplaceAll(css, []byte(";}"), []byte("}")))
}

// withoutLayer removes a layer from a minified style sheet.
func withoutLayer(css []byte, layer string) []byte {
	begin := []byte("@layer " + layer + "{")
	for {
		from := bytes.Index(css, begin)
		if from < 0 {
			return css
		}
		to, depth := from+len(begin), 1
		for ; to < len(css) && depth > 0; to++ {
			switch css[to] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		css = append(bytes.Clone(css[:from]), css[to:]...)
	}
}

// withoutLayers removes several layers.
func withoutLayers(css []byte, layers ...string) []byte {
	for _, layer := range layers {
		css = withoutLayer(css, layer)
	}
	return css
}

// minifyJS removes comments and unneeded spaces. Names stay, so that error messages of
// browsers name the right function. Line breaks stay unless a statement clearly continues
// on the next line.
func minifyJS(js []byte) []byte {
	var out bytes.Buffer
	last := func() byte {
		if out.Len() == 0 {
			return '\n'
		}
		return out.Bytes()[out.Len()-1]
	}
	var braces []int // open braces in the code of each enclosing template literal
	for i := 0; i < len(js); {
		c := js[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			end, lines := i, false
			for ; end < len(js) && strings.IndexByte(" \t\n", js[end]) >= 0; end++ {
				lines = lines || js[end] == '\n'
			}
			i = end
			switch {
			case end == len(js):
			case lines && strings.IndexByte("{([,;:=&|?+-*<>\n", last()) < 0 && strings.IndexByte(")]},;.?:&|", js[end]) < 0:
				out.WriteByte('\n')
			case !lines && separates(last(), js[end]):
				out.WriteByte(' ')
			}
		case c == '/' && i+1 < len(js) && js[i+1] == '/' && (i == 0 || js[i-1] == '\n' || js[i-1] == ' ' || js[i-1] == '\t'):
			for i < len(js) && js[i] != '\n' {
				i++
			}
		case c == '"' || c == '\'' || c == '/' && strings.IndexByte("(,=:[!&|?{};\n", last()) >= 0:
			i = copyQuoted(&out, js, i)
		case c == '`' || c == '}' && len(braces) > 0 && braces[len(braces)-1] == 0:
			if c == '}' {
				braces = braces[:len(braces)-1]
			}
			if i = copyTemplate(&out, js, i); js[i-1] == '{' {
				braces = append(braces, 0)
			}
		default:
			if n := len(braces); n > 0 && c == '{' {
				braces[n-1]++
			} else if n > 0 && c == '}' {
				braces[n-1]--
			}
			if c == '}' && last() == ';' { // our scripts have no empty statements
				out.Truncate(out.Len() - 1)
			}
			out.WriteByte(c)
			i++
		}
	}
	return out.Bytes()
}

// separates reports whether two characters need a space between them.
func separates(a, b byte) bool {
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	return word(a) && word(b) || a == b && strings.IndexByte("+-/", a) >= 0
}

// copyQuoted copies a string or a regular expression and returns the position after it.
func copyQuoted(out *bytes.Buffer, js []byte, from int) int {
	class := false // inside [ ] of a regular expression
	for i := from + 1; i < len(js); i++ {
		switch c := js[i]; {
		case c == '\\':
			i++
		case js[from] == '/' && (c == '[' || c == ']'):
			class = c == '['
		case c == js[from] && !class:
			out.Write(js[from : i+1])
			return i + 1
		}
	}
	out.Write(js[from:])
	return len(js)
}

// copyTemplate copies a template literal up to its end or to the code in it.
func copyTemplate(out *bytes.Buffer, js []byte, from int) int {
	for i := from + 1; i < len(js); i++ {
		switch {
		case js[i] == '\\':
			i++
		case js[i] == '`', js[i] == '{' && js[i-1] == '$':
			out.Write(js[from : i+1])
			return i + 1
		}
	}
	out.Write(js[from:])
	return len(js)
}
