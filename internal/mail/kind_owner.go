package mail

import "time"

// WebhookDisabled tells an owner that a webhook gets no events any more.
type WebhookDisabled struct {
	FormTitle string
	URL       string // of the webhook
	Reason    string // in English, and a key of translations
	PageURL   string
}

// Name implements Kind.
func (WebhookDisabled) Name() string { return "webhook_disabled" }

// Compose implements Kind.
func (m WebhookDisabled) Compose(t Texts) Content {
	return Content{
		Subject: t.T("A webhook of “%s” is disabled", m.FormTitle), Above: m.FormTitle, Heading: t.T("A webhook is disabled"),
		Paragraphs: []string{m.URL, t.T(m.Reason), t.T("Events are kept. They are delivered once you activate the webhook again.")},
		Button:     Link{t.T("Open the webhook"), m.PageURL},
		Footer:     t.T("You get this email because the form is yours."),
	}
}

// StorageFull tells an owner that there is little storage left.
type StorageFull struct {
	Used, Limit string
	BaseURL     string `json:",omitempty"`
}

// Name implements Kind.
func (StorageFull) Name() string { return "storage_full" }

// Compose implements Kind.
func (m StorageFull) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Your storage is nearly full"), Heading: t.T("Your storage is nearly full"),
		Paragraphs: []string{t.T("Your forms use %s of %s.", m.Used, m.Limit), t.T("When the storage is full, your forms accept no more responses. Delete forms or responses you no longer need.")},
		Button:     Link{t.T("Open Formulary"), m.BaseURL},
		Footer:     t.T("You get this email because the account is yours."),
	}
}

// Retention tells an owner that old responses will be deleted.
type Retention struct {
	Form    string // title
	ID      string // of the form
	Days    int64
	Date    time.Time // of the first deletion
	BaseURL string    `json:",omitempty"`
}

// Name implements Kind.
func (Retention) Name() string { return "retention" }

// Compose implements Kind.
func (m Retention) Compose(t Texts) Content {
	rule := t.T("This form deletes responses after 1 day.")
	if m.Days > 1 {
		rule = t.T("This form deletes responses after %d days.", m.Days)
	}
	return Content{
		Subject: t.T("Old responses to “%s” will be deleted", m.Form), Above: m.Form, Heading: t.T("Old responses will be deleted"),
		Paragraphs: []string{
			rule, t.T("The first ones are deleted on %s.", t.DateTime(m.Date, time.UTC)),
			t.T("To keep them, export them or change the setting before then."),
		},
		Button: Link{t.T("Open the setting"), m.BaseURL + "/forms/" + m.ID + "/share#retention"},
		Footer: t.T("You get this email because the form is yours."),
	}
}
