package public

import (
	"strings"

	"formulary/internal/form"
	"formulary/internal/locale"
)

// Without scripts, a telephone number has a list of countries on request: the page would be
// too heavy with a list that most respondents do not need. With scripts, phone.js fills the
// list.

// countriesAction is the button that shows the page again with the lists.
const countriesAction = "countries"

// phoneCountry is the name of the control with the country of a number.
func phoneCountry(key string) string { return key + ".country" }

func isPhone(f *form.Field) bool { return f.Traits().Asset == "phone" }

// phoneCode is an option of the list.
type phoneCode struct {
	Country, Name, Code string
	Chosen              bool
}

// PhoneCodes are the countries of the list; there are none unless the respondent asked for
// them.
func (q *question) PhoneCodes() []phoneCode {
	if !q.listsCountries {
		return nil
	}
	var list []phoneCode
	for _, c := range q.phoneCountries {
		if code := locale.CallingCode(c.Code); code != "" {
			list = append(list, phoneCode{c.Code, c.Name, code, q.Part("country") == c.Code})
		}
	}
	return list
}

// addCallingCodes turns numbers of a chosen country into international ones.
func (s *fillSession) addCallingCodes() {
	for _, f := range s.form.Definition.Fields {
		country, number := phoneCountry(f.Key), strings.TrimSpace(s.values.Get(f.Key))
		if !isPhone(f) || !s.values.Has(country) || number == "" {
			continue
		}
		s.values.Set(f.Key, locale.InternationalNumber(s.values.Get(country), number))
	}
}
