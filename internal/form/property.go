package form

// Property is something that an owner can set of a field. The builder makes its
// panel of these: a kind names those that it uses, and each says how it is set.
type Property struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Help  string `json:"help,omitempty"`
	Input string `json:"input"` // text, lines, number, whole, switch, options, moment, expression, answer, condition, jumps
}

// CommonProperties are the properties that every field has.
var CommonProperties = []Property{
	{"label", "Question", "", "text"},
	{"help", "Help", "A remark under the question", "lines"},
	{"required", "An answer is needed", "", "switch"},
	{"key", "Key", "How answers name it, in the API and in exports", "text"},
	{"default", "Starts with", "An answer that is filled in already", "answer"},
	{"show_if", "Shown", "When the question is asked", "condition"},
	{"jumps", "Then", "Where its page leads", "jumps"},
}

// KindProperties are the properties that only some kinds have, in the order in which owners
// set them.
var KindProperties = []Property{
	{"text", "Text", "Markdown", "lines"},
	{"options", "Answers", "One a line; paste a list to add many", "options"},
	{"rows", "Rows", "One a line", "options"},
	{"other", "People may write their own", "", "switch"},
	{"shuffle", "In another order for each person", "", "switch"},
	{"several", "More than one answer in a row", "", "switch"},
	{"min_picks", "At least so many answers", "", "whole"},
	{"max_picks", "At most so many answers", "", "whole"},
	{"placeholder", "Example in the empty field", "", "text"},
	{"min_length", "At least so many characters", "", "whole"},
	{"max_length", "At most so many characters", "", "whole"},
	{"min", "Smallest", "", "number"},
	{"max", "Largest", "", "number"},
	{"step", "Step", "", "number"},
	{"unit", "Unit", "Such as € or kg", "text"},
	{"low", "Words for the low end", "", "text"},
	{"high", "Words for the high end", "", "text"},
	{"earliest", "Earliest", "", "moment"},
	{"latest", "Latest", "", "moment"},
	{"expression", "Expression", "Keys of earlier fields, such as price * 2", "expression"},
	{"concealed", "Respondents do not see it", "", "switch"},
}
