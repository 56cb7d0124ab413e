package mail

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
