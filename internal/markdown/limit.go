package markdown

import "strings"

// The time to parse Markdown grows with the square of the number of brackets, asterisks
// and so on in a paragraph, and of the depth of quotes and lists. Syntax beyond these
// limits stays text.
const (
	maxInlineSyntax = 500 // in one paragraph
	maxNesting      = 12  // quotes and lists at the beginning of a line
)

// inlineSyntax are characters for which the parser searches a partner.
const inlineSyntax = "[]*_`<!"

// limitSyntax escapes the syntax of a text beyond the limits.
func limitSyntax(text string) string {
	if len(text) <= maxInlineSyntax && strings.Count(text, ">") <= maxNesting {
		return text
	}
	var out strings.Builder
	marks := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		start := nestedTooDeep(line)
		out.WriteString(line[:start])
		if start < len(line) && start > 0 {
			out.WriteByte('\\')
		}
		escaped := start > 0
		for i := start; i < len(line); i++ {
			c := line[i]
			if strings.IndexByte(inlineSyntax, c) >= 0 && !escaped {
				if marks++; marks > maxInlineSyntax {
					out.WriteByte('\\')
				}
			}
			escaped = c == '\\' && !escaped
			out.WriteByte(c)
		}
	}
	return out.String()
}

// nestedTooDeep is the position of the first marker of a quote or list that is too deep,
// or 0 if there is none.
func nestedTooDeep(line string) int {
	depth := 0
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '>' || (c == '-' || c == '+' || c == '*') && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			if depth++; depth > maxNesting {
				return i
			}
			i++
			continue
		case c >= '0' && c <= '9':
			end := i
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			if end < len(line) && (line[end] == '.' || line[end] == ')') {
				if depth++; depth > maxNesting {
					return end
				}
				i = end + 1
				continue
			}
		}
		break
	}
	return 0
}
