package public

import (
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// formRules is what the script of the page needs once a respondent starts to answer.
type formRules struct {
	Questions []questionRules   `json:"questions"`
	Texts     map[string]string `json:"texts"`
}

type questionRules struct {
	Key   string     `json:"key"`
	Rules []ruleText `json:"rules"`
}

// ruleText is a form.Rule in the language of the form.
type ruleText struct {
	Test  string `json:"test"`
	Value any    `json:"value,omitempty"`
	Text  string `json:"text"`
}

// ShowRules sends the rules that the browser checks while the form is filled in. Nobody
// needs them to open the form, so the page is lighter without them.
func (pages *Pages) ShowRules(req *page.Request) error {
	if err := pages.limitAction(req); err != nil {
		return err
	}
	f, err := pages.publicForm(req)
	if err != nil {
		return err
	}
	if !f.IsOpenAt(pages.Now()) {
		return errNoForm
	}
	s := pages.newFillSession(req, f)
	s.values.Set(versionControl, req.URL.Query().Get("version"))
	if err := pages.continueVersion(req, s); err != nil {
		return err
	}
	req.W.Header()["Cache-Control"] = privateNoCache
	return req.SendJSON(http.StatusOK, s.rules())
}

func (s *fillSession) rules() formRules {
	c := s.catalog
	list := formRules{Questions: []questionRules{}, Texts: map[string]string{
		"kept": c.Translate("Your answers are kept on this device until you submit them."), "erase": c.Translate("Erase answers"),
		"erased":  c.Translate("Your answers were erased from this device."),
		"welcome": c.Translate("Welcome back. Your answers from {time} are still on this device. Nothing has been sent yet."), "again": c.Translate("Start again"),
		"problems": c.Translate("Check these answers:"),
		"waiting":  c.Translate("No connection. Your answers are still here. They are sent as soon as you are online again."),
	}}
	if s.form.Definition.Settings.ForgetAnswers {
		delete(list.Texts, "kept") // then the script keeps nothing
	}
	for _, f := range s.form.Definition.Fields {
		rules := f.Rules()
		if rules == nil {
			continue
		}
		q := questionRules{Key: f.Key}
		for _, rule := range rules {
			text := page.Sentence(fault.DetailOf(f.Key, rule.Problem).Localize(c))
			q.Rules = append(q.Rules, ruleText{rule.Test, rule.Value, text})
		}
		list.Questions = append(list.Questions, q)
	}
	return list
}
