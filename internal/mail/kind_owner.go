package mail

import "strings"

// WebhookDisabled tells an owner that a webhook gets no events any more.
type WebhookDisabled struct {
	BaseURL   string
	FormTitle string
	URL       string // of the page of the webhook
	Host      string // that events were sent to; the whole address can have a secret
	Reason    string // in English
}

// Name implements Kind.
func (WebhookDisabled) Name() string { return "webhook_disabled" }

// Compose implements Kind.
func (m WebhookDisabled) Compose(t Texts) Content {
	title := CleanLine(m.FormTitle, maxNameInMail)
	return Content{
		Subject: t.T("Webhook of “%s” disabled", title), Above: title, Heading: t.T("Webhook disabled"),
		Paragraphs: []string{t.T("Events of this form are no longer sent to %s.", m.Host), t.T(m.Reason)},
		Button:     Link{t.T("Open webhook"), m.URL},
		Notes:      []string{t.T("No events are lost. After you enable the webhook again, it continues where it stopped.")},
		Footer:     t.T("You get this email because you own a form at %s.", hostOf(m.BaseURL)),
	}
}

// StorageLow tells a user that their storage is nearly full.
type StorageLow struct {
	BaseURL     string
	Percent     int64
	Used, Limit string
}

// Name implements Kind.
func (StorageLow) Name() string { return "storage_low" }

// Compose implements Kind.
func (m StorageLow) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Your storage is %d%% full", m.Percent), Heading: t.T("Your storage is %d%% full", m.Percent),
		Paragraphs: []string{t.T("%s of %s used", decimal(t, m.Used), decimal(t, m.Limit)) + ".", t.T("When it’s full, your forms can’t accept responses.")},
		Button:     Link{t.T("View storage"), m.BaseURL + "/account#storage"},
		Notes:      []string{t.T("Delete forms or responses you no longer need, or ask your administrator for more storage.")},
		Footer:     t.T("You get this email because you have an account at %s.", hostOf(m.BaseURL)),
	}
}

// decimal writes a number with a decimal point as the language does.
func decimal(t Texts, number string) string { return strings.Replace(number, ".", t.T("."), 1) }
