package workspace

import (
	"cmp"
	"strings"

	"formulary/internal/account"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// auditSentences say what an entry records. Their arguments are the actor, the object and a detail.
var auditSentences = map[store.AuditAction]string{
	store.AuditGrantCreated:       "%[1]s gave %[2]s access (%[3]s)",
	store.AuditGrantChanged:       "%[1]s changed the access of %[2]s (%[3]s)",
	store.AuditGrantSuspended:     "%[1]s disabled %[2]s: the access that %[3]s gave is suspended",
	store.AuditGrantResumed:       "%[1]s enabled %[2]s: the access that %[3]s gave works again",
	store.AuditGrantEnded:         "%[1]s ended the access of %[2]s",
	store.AuditTokenCreated:       "%[1]s created the personal token “%[2]s” (%[3]s)",
	store.AuditTokenRevoked:       "%[1]s revoked the personal token “%[2]s”",
	store.AuditAppCreated:         "%[1]s registered the application “%[2]s”",
	store.AuditAppChanged:         "%[1]s changed the settings of the application “%[2]s”",
	store.AuditAppDisabled:        "%[1]s disabled the application “%[2]s”",
	store.AuditAppEnabled:         "%[1]s enabled the application “%[2]s”",
	store.AuditAppDeleted:         "%[1]s deleted the application “%[2]s”",
	store.AuditAppSecretAdded:     "%[1]s added a client secret to the application “%[2]s”",
	store.AuditAppSecretDeleted:   "%[1]s deleted a client secret of the application “%[2]s”",
	store.AuditSpaceCreated:       "%[1]s created the space “%[2]s”",
	store.AuditSpaceRenamed:       "%[1]s renamed the space to “%[2]s” (before: %[3]s)",
	store.AuditSpaceDeleted:       "%[1]s deleted the space “%[2]s”",
	store.AuditMemberAdded:        "%[1]s added %[2]s as a member (%[3]s)",
	store.AuditMemberChanged:      "%[1]s changed the role of %[2]s (%[3]s)",
	store.AuditMemberRemoved:      "%[1]s removed %[2]s from the space",
	store.AuditMemberLeft:         "%[2]s left the space",
	store.AuditInvitationCreated:  "%[1]s invited %[2]s (%[3]s)",
	store.AuditInvitationAccepted: "%[1]s accepted the invitation (%[3]s)",
	store.AuditInvitationRevoked:  "%[1]s revoked the invitation for %[2]s",
	store.AuditFormShared:         "%[1]s shared the form “%[2]s” with %[3]s",
	store.AuditFormUnshared:       "%[1]s stopped sharing the form “%[2]s” with %[3]s",
	store.AuditFormMovedIn:        "%[1]s moved the form “%[2]s” here from %[3]s",
	store.AuditFormMovedOut:       "%[1]s moved the form “%[2]s” to %[3]s",
	store.AuditFormPublished:      "%[1]s published the form “%[2]s” (version %[3]s)",
	store.AuditFormOpened:         "%[1]s opened the form “%[2]s”",
	store.AuditFormClosed:         "%[1]s closed the form “%[2]s”",
	store.AuditAvailability:       "%[1]s changed dates, response limit or sites of the form “%[2]s”",
	store.AuditLinkChanged:        "%[1]s changed the custom link of the form “%[2]s” (%[3]s)",
	store.AuditRetentionChanged:   "%[1]s changed how long the form “%[2]s” keeps responses (days: %[3]s)",
	store.AuditNotifications:      "%[1]s changed the notifications of the form “%[2]s” (%[3]s)",
	store.AuditReceiptChanged:     "%[1]s changed the receipt of the form “%[2]s”",
	store.AuditFormDeleted:        "%[1]s deleted the form “%[2]s”",
	store.AuditFormRestored:       "%[1]s restored the form “%[2]s”",
	store.AuditResponsesExported:  "%[1]s exported responses to the form “%[2]s” (%[3]s)",
	store.AuditFilesDownloaded:    "%[1]s downloaded the files of a response to the form “%[2]s”",
	store.AuditResponsesDeleted:   "%[1]s deleted responses to the form “%[2]s” (number: %[3]s)",
	store.AuditResponsesRestored:  "%[1]s restored responses to the form “%[2]s” (number: %[3]s)",
	store.AuditResponsesPurged:    "%[1]s deleted old responses to the form “%[2]s” (number: %[3]s)",
	store.AuditWebhookCreated:     "%[1]s created a webhook to %[2]s for the form “%[3]s”",
	store.AuditWebhookChanged:     "%[1]s changed the webhook to %[2]s of the form “%[3]s”",
	store.AuditWebhookRotated:     "%[1]s rotated the secret of the webhook to %[2]s of the form “%[3]s”",
	store.AuditWebhookDeleted:     "%[1]s deleted the webhook to %[2]s of the form “%[3]s”",
	store.AuditAccountDownloaded:  "%[1]s downloaded all data of the account",
	store.AuditExported:           "%[1]s downloaded the audit log",
}

// auditEndings are the sentences, by the reason, of a grant that ended by others than the person
// who gave it.
var auditEndings = map[string]string{
	"":                     "%[1]s ended the access of %[2]s that %[3]s gave",
	store.AppDeletedReason: "%[1]s deleted %[2]s: the access that %[3]s gave has ended",
}

// auditDetails names the detail that a sentence shows.
var auditDetails = map[store.AuditAction]string{
	store.AuditGrantCreated: "scope", store.AuditGrantChanged: "scope", store.AuditTokenCreated: "scope",
	store.AuditGrantSuspended: "person", store.AuditGrantResumed: "person",
	store.AuditSpaceRenamed: "before", store.AuditMemberAdded: "role", store.AuditMemberChanged: "role",
	store.AuditInvitationCreated: "role", store.AuditInvitationAccepted: "role",
	store.AuditFormShared: "person", store.AuditFormUnshared: "person", store.AuditFormMovedIn: "space", store.AuditFormMovedOut: "space",
	store.AuditFormPublished: "version", store.AuditLinkChanged: "link", store.AuditRetentionChanged: "days",
	store.AuditNotifications: "recipients", store.AuditResponsesExported: "format",
	store.AuditResponsesDeleted: "count", store.AuditResponsesRestored: "count", store.AuditResponsesPurged: "count",
	store.AuditWebhookCreated: "form", store.AuditWebhookChanged: "form", store.AuditWebhookRotated: "form", store.AuditWebhookDeleted: "form",
}

// auditRoles are the roles in sentences.
var auditRoles = map[string]string{"owner": "owner", "editor": "editor", "viewer": "viewer"}

// describeEntry says in words what an entry records.
func (pages *Pages) describeEntry(req *page.Request, e store.AuditEntry) string {
	detail := e.Details[auditDetails[e.Action]]
	switch {
	case auditDetails[e.Action] == "role" && auditRoles[detail] != "":
		detail = pages.Site.TranslateFor(req, auditRoles[detail])
	case auditDetails[e.Action] == "scope":
		detail = strings.ReplaceAll(detail, ",", ", ")
	case detail == "":
		detail = "–"
	}
	object := cmp.Or(e.ObjectName, e.ObjectID)
	if object == store.AnyoneWithLink {
		object = pages.Site.TranslateFor(req, "anyone with the link")
	}
	sentence, ok := auditSentences[e.Action]
	if !ok { // a later version of the service recorded it
		return pages.describeActor(req, e.Actor) + ": " + string(e.Action)
	}
	if person := e.Details["person"]; e.Action == store.AuditGrantEnded && person != "" {
		sentence, detail = auditEndings[e.Details["reason"]], person
	}
	plain := account.WithoutDirections // a name must not turn around what the sentence says
	return pages.Site.TranslateFor(req, sentence, plain(pages.describeActor(req, e.Actor)), plain(object), plain(detail))
}

// describeActor says who has acted.
func (pages *Pages) describeActor(req *page.Request, a store.Actor) string {
	switch {
	case a.Kind == store.ActorCommandLine:
		return pages.Site.TranslateFor(req, "The command line")
	case a.Kind == store.ActorService:
		return "Formulary"
	case a.Kind == store.ActorApplication && a.PersonID == "":
		return a.AppName
	case a.Kind == store.ActorApplication:
		return pages.Site.TranslateFor(req, "%s with %s", a.PersonName, a.AppName)
	}
	return a.PersonName
}
