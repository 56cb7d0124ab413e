package form

import (
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// ranking is options in the order that the respondent prefers: all of them if the question
// is required, otherwise as many as the respondent likes.
type ranking struct{}

func (ranking) Name() string         { return "ranking" }
func (ranking) Properties() []string { return []string{"options", "shuffle"} }

const maxRanked = 50

func (ranking) Check(f *Field, invalid func(property, format string, args ...any)) {
	if len(f.Options) < 2 || len(f.Options) > maxRanked {
		invalid("options", "add 2 to %d options to rank", maxRanked)
	}
}

// ParseForm reads a rank for each option (key.value), which works without JavaScript,
// or the values in order (key).
func (ranking) ParseForm(f *Field, in url.Values) any {
	var list []any
	for _, value := range in[f.Key] {
		list = append(list, value)
	}
	if list != nil {
		return list
	}
	ranks := map[string]int{}
	var order []string
	for _, value := range optionValues(f.Options) {
		text := asciiDigits(strings.TrimSpace(in.Get(f.Key + "." + value)))
		if text == "" {
			continue
		}
		rank, err := strconv.Atoi(text)
		if err != nil || rank < 1 {
			return "no rank" // rejected by Validate
		}
		ranks[value] = rank
		order = append(order, value)
	}
	sort.SliceStable(order, func(i, j int) bool { return ranks[order[i]] < ranks[order[j]] })
	for i, value := range order {
		if i > 0 && ranks[value] == ranks[order[i-1]] {
			return "tie" // rejected by Validate
		}
		list = append(list, value)
	}
	if list == nil {
		return nil
	}
	return list
}

var errRanking = answerError("give each option a different rank")

func (ranking) Validate(f *Field, value any) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errRanking
	}
	if len(list) == 0 {
		return nil, nil
	}
	if len(list) > len(f.Options) || f.Required && len(list) < len(f.Options) {
		return nil, errRanking
	}
	options, ranked := newLookup(f.Options, len(list)), make([]bool, len(f.Options))
	order := make([]string, 0, len(list))
	for _, v := range list {
		text, ok := v.(string)
		at := options.find(text)
		if !ok || at < 0 || ranked[at] {
			return nil, errRanking
		}
		ranked[at] = true
		order = append(order, text)
	}
	return order, nil
}

func (ranking) Schema(f *Field) map[string]any {
	least := 1
	if f.Required {
		least = len(f.Options)
	}
	return map[string]any{
		"type": "array", "uniqueItems": true, "minItems": least, "maxItems": len(f.Options),
		"items": map[string]any{"type": "string", "enum": optionValues(f.Options)},
	}
}

func (ranking) Traits() Traits {
	return Traits{
		Summary: CountOptions, List: true, Ordered: true, Group: true, Sketch: "ranking", Asset: "ranking",
		Rules: func(f *Field) []Rule {
			least := 0
			if f.Required {
				least = len(f.Options)
			}
			return []Rule{{"ranks", least, errRanking}}
		},
		ExtraSize: func(f *Field) int { return len(f.Options) * 100 }, // a number field each
		Example: func(f *Field, s Sampler) any {
			var order []any
			for _, i := range s.Dice.Perm(len(f.Options)) {
				order = append(order, f.Options[i].Value)
			}
			return order
		},
	}
}

func (ranking) Info() KindInfo {
	return KindInfo{"Ranking", "Rank options in order", "Choices", "ranking", "order, sort, priorities, drag"}
}
