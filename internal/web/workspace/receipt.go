package workspace

import (
	"net/http"
	"strings"

	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// postedReceipt returns the controls of the receipt. Browsers end lines with two characters.
func postedReceipt(req *page.Request) store.Receipt {
	return store.Receipt{
		Active: req.Field("active") != "", Field: req.Field("field"), Subject: strings.TrimSpace(searchText(req.Field("subject"))),
		Text: strings.ReplaceAll(searchText(req.Field("text")), "\r\n", "\n"), Answers: req.Field("answers") != "",
	}
}

// ChangeReceipt saves the mail that respondents get.
func (pages *Pages) ChangeReceipt(req *page.Request) error {
	formID, receipt := req.PathValue("id"), postedReceipt(req)
	check := func(stored store.Receipt) error { return checkSeen(req, seenValue(stored), seenValue(receipt)) }
	err := pages.Mails.SetReceipt(req.Context(), req.Owner(), formID, store.ReceiptChange{Receipt: receipt, Check: check})
	if err == nil {
		return req.Redirect(notifyPath(formID) + "?done=receipt#receipt")
	}
	problems, changed, err := settingsProblems(err)
	if err != nil {
		return err
	}
	view := notifyView{receipt: &receipt, problems: problems}
	if changed {
		view.changed = "receipt"
	}
	return pages.renderNotify(req, statusOf(changed), view)
}

// PreviewNotification is the content of a frame with a notification or a digest.
func (pages *Pages) PreviewNotification(req *page.Request) error {
	when := store.Frequency(req.URL.Query().Get("when"))
	m, err := pages.Mails.PreviewNotification(req.Context(), req.Owner(), req.PathValue("id"), when)
	if err != nil {
		return err
	}
	return sendPreview(req, m)
}

// PreviewReceipt is the content of a frame with a receipt, as it is stored or as posted.
func (pages *Pages) PreviewReceipt(req *page.Request) error {
	formID, receipt := req.PathValue("id"), postedReceipt(req)
	// A text that cannot be saved is not worth more work than one that can.
	receipt.Subject, receipt.Text = firstCharacters(receipt.Subject, outbox.MaxReceiptSubject), firstCharacters(receipt.Text, outbox.MaxReceiptText)
	var err error
	if req.Method != http.MethodPost {
		if receipt, err = pages.Store.Receipt(req.Context(), req.Owner(), formID); err != nil {
			return err
		}
	}
	m, err := pages.Mails.PreviewReceipt(req.Context(), req.Owner(), formID, receipt)
	if err != nil {
		return err
	}
	return sendPreview(req, m)
}

// firstCharacters returns the beginning of a text.
func firstCharacters(text string, most int) string {
	count := 0
	for at := range text {
		if count == most {
			return text[:at]
		}
		count++
	}
	return text
}
