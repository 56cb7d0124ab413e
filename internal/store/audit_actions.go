package store

// AuditAction is what an entry of the audit log records. The API shows these names, so they never
// change.
type AuditAction string

// The actions of the audit log.
const (
	AuditGrantCreated   AuditAction = "grant.created"
	AuditGrantChanged   AuditAction = "grant.changed"
	AuditGrantSuspended AuditAction = "grant.suspended"
	AuditGrantResumed   AuditAction = "grant.resumed"
	AuditGrantEnded     AuditAction = "grant.ended"
	AuditTokenCreated   AuditAction = "token.created"
	AuditTokenRevoked   AuditAction = "token.revoked"

	AuditAppCreated       AuditAction = "application.created"
	AuditAppChanged       AuditAction = "application.changed"
	AuditAppDisabled      AuditAction = "application.disabled"
	AuditAppEnabled       AuditAction = "application.enabled"
	AuditAppDeleted       AuditAction = "application.deleted"
	AuditAppSecretAdded   AuditAction = "application.secret_added"
	AuditAppSecretDeleted AuditAction = "application.secret_deleted"

	AuditSpaceCreated AuditAction = "space.created"
	AuditSpaceRenamed AuditAction = "space.renamed"
	AuditSpaceDeleted AuditAction = "space.deleted"

	AuditMemberAdded   AuditAction = "member.added"
	AuditMemberChanged AuditAction = "member.changed"
	AuditMemberRemoved AuditAction = "member.removed"
	AuditMemberLeft    AuditAction = "member.left"

	AuditInvitationCreated  AuditAction = "invitation.created"
	AuditInvitationAccepted AuditAction = "invitation.accepted"
	AuditInvitationRevoked  AuditAction = "invitation.revoked"

	AuditFormShared   AuditAction = "form.shared"
	AuditFormUnshared AuditAction = "form.unshared"
	AuditFormMovedIn  AuditAction = "form.moved_in"
	AuditFormMovedOut AuditAction = "form.moved_out"

	AuditFormPublished     AuditAction = "form.published"
	AuditFormOpened        AuditAction = "form.opened"
	AuditFormClosed        AuditAction = "form.closed"
	AuditAvailability      AuditAction = "form.availability_changed"
	AuditLinkChanged       AuditAction = "form.link_changed"
	AuditRetentionChanged  AuditAction = "form.retention_changed"
	AuditNotifications     AuditAction = "form.notifications_changed"
	AuditReceiptChanged    AuditAction = "form.receipt_changed"
	AuditFormDeleted       AuditAction = "form.deleted"
	AuditFormRestored      AuditAction = "form.restored"
	AuditResponsesExported AuditAction = "response.exported"
	AuditFilesDownloaded   AuditAction = "response.files_downloaded"
	AuditResponsesDeleted  AuditAction = "response.deleted"
	AuditResponsesRestored AuditAction = "response.restored"
	AuditResponsesPurged   AuditAction = "response.purged"

	AuditWebhookCreated AuditAction = "webhook.created"
	AuditWebhookChanged AuditAction = "webhook.changed"
	AuditWebhookRotated AuditAction = "webhook.secret_rotated"
	AuditWebhookDeleted AuditAction = "webhook.deleted"

	AuditAccountDownloaded AuditAction = "account.downloaded"
	AuditExported          AuditAction = "audit.exported"
)

// AuditActionInfo is a row of the table of actions.
type AuditActionInfo struct {
	Action  AuditAction
	Meaning string
	Details string // names of the details of its entries, separated by commas
}

// AuditActions lists all actions. The documentation prints it.
var AuditActions = []AuditActionInfo{
	{AuditGrantCreated, "An application got access to the space", "scope, forms, expires_at"},
	{AuditGrantChanged, "The access of an application was narrowed", "scope, forms, expires_at"},
	{AuditGrantSuspended, "An application with access to the space was disabled", "person_id, person"},
	{AuditGrantResumed, "An application with access to the space was enabled again", "person_id, person"},
	{AuditGrantEnded, "The access of an application ended", "person_id, person, reason"},
	{AuditTokenCreated, "A personal token was created", "scope, expires_at"},
	{AuditTokenRevoked, "A personal token was revoked", ""},
	{AuditAppCreated, "An application was registered", "scope, redirect_uris"},
	{AuditAppChanged, "The settings of an application were changed", "scope, redirect_uris"},
	{AuditAppDisabled, "An application was disabled", ""},
	{AuditAppEnabled, "An application was enabled", ""},
	{AuditAppDeleted, "An application was deleted", ""},
	{AuditAppSecretAdded, "An application got another client secret", ""},
	{AuditAppSecretDeleted, "A client secret of an application was deleted", ""},
	{AuditSpaceCreated, "The space was created", ""},
	{AuditSpaceRenamed, "The space got another name", "before"},
	{AuditSpaceDeleted, "A shared space was deleted; this is in the logs of its owners", ""},
	{AuditMemberAdded, "A person became a member", "role"},
	{AuditMemberChanged, "A member got another role", "role, before"},
	{AuditMemberRemoved, "A member was removed, with the grants that they gave for the space", "role"},
	{AuditMemberLeft, "A member or a guest left the space, or deleted their account", "role"},
	{AuditInvitationCreated, "A person was invited", "role"},
	{AuditInvitationAccepted, "An invitation was accepted", "role"},
	{AuditInvitationRevoked, "An invitation was revoked", ""},
	{AuditFormShared, "A form was shared with a person, or their role for it was changed", "person_id, person, role"},
	{AuditFormUnshared, "A form is no longer shared with a person", "person_id, person"},
	{AuditFormMovedIn, "A form was moved to this space", "space_id, space"},
	{AuditFormMovedOut, "A form was moved to another space", "space_id, space"},
	{AuditFormPublished, "A version of a form was published", "version"},
	{AuditFormOpened, "A form was opened", ""},
	{AuditFormClosed, "A form was closed", ""},
	{AuditAvailability, "Dates, response limit or sites of a form were changed", "opens_at, closes_at, response_limit, sites"},
	{AuditLinkChanged, "The custom link of a form was changed", "link, before"},
	{AuditRetentionChanged, "How long a form keeps its responses was changed", "days"},
	{AuditNotifications, "Who is notified of responses was changed", "when, recipients"},
	{AuditReceiptChanged, "The receipt of a form was changed", "active"},
	{AuditFormDeleted, "A form was deleted", ""},
	{AuditFormRestored, "A deleted form was restored", ""},
	{AuditResponsesExported, "Responses were exported", "format"},
	{AuditFilesDownloaded, "The files of a response were downloaded", "response_id"},
	{AuditResponsesDeleted, "Responses were deleted", "count"},
	{AuditResponsesRestored, "Deleted responses were restored", "count"},
	{AuditResponsesPurged, "Responses were deleted because the form does not keep them any longer", "count"},
	{AuditWebhookCreated, "A webhook was created", "form_id, form"},
	{AuditWebhookChanged, "A webhook was changed, paused or resumed", "form_id, form, status"},
	{AuditWebhookRotated, "A webhook got a new secret", "form_id, form"},
	{AuditWebhookDeleted, "A webhook was deleted", "form_id, form"},
	{AuditAccountDownloaded, "All data of an account was downloaded", ""},
	{AuditExported, "The audit log was downloaded", ""},
}
