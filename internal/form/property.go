package form

// Property is a property of a field that owners can set. The builder creates its panel
// from these: a kind names the properties it uses, and each defines its input.
type Property struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Help  string `json:"help,omitempty"`
	Input string `json:"input"` // text, lines, number, whole, switch, options, moment, expression, answer, condition, jumps
}

// CommonProperties apply to every field.
var CommonProperties = []Property{
	{"label", "Question", "", "text"},
	{"help", "Help text", "Shown below the question", "lines"},
	{"required", "Required", "", "switch"},
	{"key", "Key", "Identifies this question in the API and in exports", "text"},
	{"default", "Default answer", "Filled in before the respondent starts", "answer"},
	{"show_if", "Visibility", "When to show this question", "condition"},
	{"jumps", "After this page", "Send respondents to another page or ending", "jumps"},
}

// KindProperties apply to some kinds, in the order of the builder's panel.
var KindProperties = []Property{
	{"text", "Text", "Markdown supported", "lines"},
	{"options", "Options", "One per line. Paste a list to add several at once.", "options"},
	{"rows", "Rows", "One per line", "options"},
	{"other", "Allow “Other”", "", "switch"},
	{"shuffle", "Shuffle options", "", "switch"},
	{"several", "Allow several answers per row", "", "switch"},
	{"min_picks", "Minimum selections", "", "whole"},
	{"max_picks", "Maximum selections", "", "whole"},
	{"placeholder", "Placeholder", "", "text"},
	{"min_length", "Minimum length", "", "whole"},
	{"max_length", "Maximum length", "", "whole"},
	{"min", "Minimum", "", "number"},
	{"max", "Maximum", "", "number"},
	{"step", "Step", "", "number"},
	{"unit", "Unit", "For example, € or kg", "text"},
	{"low", "Low end label", "", "text"},
	{"high", "High end label", "", "text"},
	{"earliest", "Earliest", "", "moment"},
	{"latest", "Latest", "", "moment"},
	{"expression", "Formula", "Use the keys of earlier questions, such as price * 2", "expression"},
	{"concealed", "Hide from respondents", "", "switch"},
}
