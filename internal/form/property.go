package form

// Property is a property of a field that owners can set. The builder creates its panel
// from these: a kind names the properties it uses, and each defines its input.
type Property struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Help  string `json:"help,omitempty"`
	Input string `json:"input"` // the editor: text, textarea, number, integer, checkbox, options, groups, date, total, expression, default, condition, jumps
}

// CommonProperties apply to every field.
var CommonProperties = []Property{
	{"label", "Question", "", "text"},
	{"help", "Help text", "Shown below the question", "textarea"},
	{"required", "Required", "", "checkbox"},
	{"key", "Key", "Identifies this question in the API and in exports", "text"},
	{"default", "Default answer", "Filled in before the respondent starts", "default"},
	{"show_if", "Visibility", "When to show this question", "condition"},
	{"jumps", "After this page", "Send respondents to another page or ending", "jumps"},
}

// KindProperties apply to some kinds, in the order of the builder's panel.
var KindProperties = []Property{
	{"text", "Text", "Markdown supported", "textarea"},
	{"options", "Options", "One per line. Paste a list to add several at once.", "options"},
	{"rows", "Rows", "One per line", "options"},
	{"other", "Allow “Other”", "", "checkbox"},
	{"shuffle", "Shuffle options", "", "checkbox"},
	{"several", "Allow several answers", "", "checkbox"},
	{"min_picks", "Minimum selections", "", "integer"},
	{"max_picks", "Maximum selections", "", "integer"},
	{"placeholder", "Placeholder", "", "text"},
	{"min_length", "Minimum length", "", "integer"},
	{"max_length", "Maximum length", "", "integer"},
	{"min", "Minimum", "", "number"},
	{"max", "Maximum", "", "number"},
	{"step", "Step", "", "number"},
	{"unit", "Unit", "For example, € or kg", "text"},
	{"low", "Low end label", "", "text"},
	{"high", "High end label", "", "text"},
	{"earliest", "Earliest", "", "date"},
	{"latest", "Latest", "", "date"},
	{"accept", "File types", "All of these if none is selected", "groups"},
	{"max_files", "Maximum number of files", "1 if empty", "integer"},
	{"max_size_mb", "Maximum size of a file in MB", "10 if empty", "integer"},
	{"total", "Result", "", "total"},
	{"expression", "Formula", "Use the keys of earlier questions, such as price * 2", "expression"},
	{"concealed", "Hide from respondents", "", "checkbox"},
}
