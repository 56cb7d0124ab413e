package web

import (
	"formulary/internal/account"
	"formulary/internal/web/page"
)

// access says who may request a page.
type access struct {
	signedIn bool
	needs    account.Scope // permission in the space whose data the page shows; empty: it shows none
	whole    bool          // it is needed for the whole space, although the page is about a form
}

var (
	anyone         = access{}
	signedIn       = access{signedIn: true}
	readForms      = access{signedIn: true, needs: account.FormsRead}
	writeForms     = access{signedIn: true, needs: account.FormsWrite}
	writeAllForms  = access{signedIn: true, needs: account.FormsWrite, whole: true}
	readResponses  = access{signedIn: true, needs: account.ResponsesRead}
	writeResponses = access{signedIn: true, needs: account.ResponsesWrite}
	readWebhooks   = access{signedIn: true, needs: account.WebhooksRead}
	readSpace      = access{signedIn: true, needs: account.SpaceRead}
	manageSpace    = access{signedIn: true, needs: account.SpaceManage, whole: true}
	writeWebhooks  = access{signedIn: true, needs: account.WebhooksWrite}
	readAudit      = access{signedIn: true, needs: account.AuditRead}
)

type route struct {
	pattern string // method and path
	access  access
	maxBody int64
	handle  func(*page.Request) error
}

// The largest bodies of requests in bytes.
const (
	noBody     = 0
	maxPost    = 64 << 10  // the controls of a page
	maxMail    = 128 << 10 // a receipt: each byte of its text can take three
	maxAnswers = 1 << 20   // the answers of a respondent
	maxDraft   = 1 << 20   // the questions of a form
)

// routes lists all pages.
func (web *Handler) routes() []route {
	return []route{
		{"GET /{$}", readForms, noBody, web.workspace.Home},
		{"POST /tour/end", signedIn, maxPost, web.workspace.EndTour},
		{"GET /live", readForms, noBody, web.workspace.Live},

		{"POST /forms", writeForms, maxPost, web.workspace.CreateForm},
		{"GET /templates", readForms, noBody, web.workspace.ShowTemplates},
		{"GET /templates/{name}", readForms, noBody, web.workspace.ShowTemplates},
		{"GET /templates/{name}/picture", readForms, noBody, web.workspace.ShowTemplatePicture},
		{"GET /templates/{name}/preview", readForms, noBody, web.workspace.PreviewTemplate},
		{"POST /templates/{name}/preview", readForms, maxAnswers, web.workspace.PreviewTemplate},
		{"POST /forms/{id}/duplicate", writeAllForms, maxPost, web.workspace.DuplicateForm},
		{"POST /forms/{id}/folder", writeForms, maxPost, web.workspace.MoveForm},
		{"POST /folders", writeForms, maxPost, web.workspace.ChangeFolder},
		{"POST /forms/{id}/delete", writeForms, maxPost, web.workspace.DeleteForm},
		{"POST /forms/{id}/restore", writeForms, maxPost, web.workspace.RestoreForm},
		{"GET /forms/{id}/build", writeForms, noBody, web.workspace.ShowBuilder},
		{"PUT /forms/{id}/draft", writeForms, maxDraft, web.workspace.SaveDraft},
		{"POST /forms/{id}/editors", writeForms, maxPost, web.workspace.NoteEditor},
		{"POST /forms/{id}/formula", writeForms, maxPost, web.workspace.TryFormula},
		{"GET /forms/{id}/check", readForms, noBody, web.workspace.CheckDraft},
		{"POST /forms/{id}/publish", writeForms, maxPost, web.workspace.PublishForm},
		{"GET /forms/{id}/preview", readForms, noBody, web.workspace.Preview},
		{"POST /forms/{id}/preview", readForms, maxAnswers, web.workspace.Preview},
		{"GET /forms/{id}/versions", readForms, noBody, web.workspace.ShowVersions},
		{"POST /forms/{id}/versions/{version}/restore", writeForms, maxPost, web.workspace.RestoreVersion},
		{"GET /forms/{id}/flow", readForms, noBody, web.workspace.ShowFlow},
		{"GET /forms/{id}/design", writeForms, noBody, web.workspace.ShowDesign},
		{"POST /forms/{id}/design", writeForms, maxPost, web.workspace.ChangeDesign},
		{"POST /forms/{id}/design/themes", writeAllForms, maxPost, web.workspace.SaveTheme},
		{"POST /forms/{id}/design/themes/{theme}/apply", writeAllForms, maxPost, web.workspace.ApplyTheme},
		{"POST /forms/{id}/design/themes/{theme}/rename", writeAllForms, maxPost, web.workspace.RenameTheme},
		{"POST /forms/{id}/design/themes/{theme}/delete", writeAllForms, maxPost, web.workspace.DeleteTheme},
		{"GET /forms/{id}/share", readForms, noBody, web.workspace.ShowShare},
		{"POST /forms/{id}/share", writeForms, maxPost, web.workspace.ChangeAvailability},
		{"POST /forms/{id}/retention", writeForms, maxPost, web.workspace.ChangeRetention},
		{"GET /forms/{id}/move", readForms, noBody, web.workspace.ShowMove},
		{"POST /forms/{id}/move", manageSpace, maxPost, web.workspace.StartMove},
		{"GET /forms/{id}/embed/{mode}", readForms, noBody, web.workspace.ShowEmbedSample},
		{"GET /forms/{id}/prefill", readForms, noBody, web.workspace.PrefilledLink},
		{"POST /forms/{id}/close", writeForms, maxPost, web.workspace.CloseForm},
		{"POST /forms/{id}/open", writeForms, maxPost, web.workspace.ReopenForm},
		{"GET /forms/{id}/code/{kind}", readForms, noBody, web.workspace.QRCode},
		{"GET /forms/{id}/connect", readWebhooks, noBody, web.workspace.ShowConnect},
		{"POST /forms/{id}/connect", writeWebhooks, maxPost, web.workspace.CreateWebhook},
		{"GET /forms/{id}/connect/new", writeWebhooks, noBody, web.workspace.NewWebhook},
		{"GET /forms/{id}/connect/notify", readForms, noBody, web.workspace.ShowNotify},
		{"POST /forms/{id}/connect/notify", writeForms, maxPost, web.workspace.ChangeNotifications},
		{"GET /forms/{id}/connect/notify/preview", readForms, noBody, web.workspace.PreviewNotification},
		{"POST /forms/{id}/connect/receipt", writeForms, maxMail, web.workspace.ChangeReceipt},
		{"GET /forms/{id}/connect/receipt/preview", readForms, noBody, web.workspace.PreviewReceipt},
		{"POST /forms/{id}/connect/receipt/preview", readForms, maxMail, web.workspace.PreviewReceipt},
		{"GET /forms/{id}/connect/{webhook}", readWebhooks, noBody, web.workspace.ShowWebhook},
		{"POST /forms/{id}/connect/{webhook}", writeWebhooks, maxPost, web.workspace.ChangeWebhook},
		{"POST /forms/{id}/connect/{webhook}/pause", writeWebhooks, maxPost, web.workspace.PauseWebhook},
		{"POST /forms/{id}/connect/{webhook}/resume", writeWebhooks, maxPost, web.workspace.ResumeWebhook},
		{"POST /forms/{id}/connect/{webhook}/test", writeWebhooks, maxPost, web.workspace.TestWebhook},
		{"POST /forms/{id}/connect/{webhook}/rotate", writeWebhooks, maxPost, web.workspace.RotateWebhookSecret},
		{"POST /forms/{id}/connect/{webhook}/replay", writeWebhooks, maxPost, web.workspace.ReplayWebhook},
		{"POST /forms/{id}/connect/{webhook}/delete", writeWebhooks, maxPost, web.workspace.DeleteWebhook},
		{"POST /forms/{id}/connect/{webhook}/deliveries/{delivery}/resend", writeWebhooks, maxPost, web.workspace.ResendDelivery},
		{"GET /forms/{id}/responses", readResponses, noBody, web.workspace.ShowResponses},
		{"GET /forms/{id}/responses/export", readResponses, noBody, web.workspace.ExportResponses},
		{"POST /forms/{id}/responses/delete", writeResponses, maxPost, web.workspace.DeleteResponses},
		{"POST /forms/{id}/responses/layout", readResponses, maxPost, web.workspace.ArrangeResponses},
		{"POST /forms/{id}/responses/views", writeResponses, maxPost, web.workspace.SaveView},
		{"POST /forms/{id}/responses/views/{view}/delete", writeResponses, maxPost, web.workspace.DeleteView},
		{"POST /forms/{id}/responses/restore", writeResponses, maxPost, web.workspace.RestoreResponses},
		{"POST /forms/{id}/responses/mark", writeResponses, maxPost, web.workspace.MarkResponses},
		{"GET /forms/{id}/responses/{response}", readResponses, noBody, web.workspace.ShowResponse},
		{"GET /forms/{id}/responses/{response}/detail", readResponses, noBody, web.workspace.ShowResponseDetail},
		{"GET /forms/{id}/responses/{response}/edit", writeResponses, noBody, web.workspace.EditResponse},
		{"POST /forms/{id}/responses/{response}/edit", writeResponses, maxAnswers, web.workspace.EditResponse},
		{"POST /forms/{id}/responses/{response}/notes", writeResponses, maxPost, web.workspace.ChangeNotes},
		{"GET /forms/{id}/responses/{response}/files", readResponses, noBody, web.workspace.DownloadResponseFiles},
		{"GET /forms/{id}/files/{file}", readResponses, noBody, web.workspace.DownloadFile},
		{"GET /forms/{id}/files/{file}/play", readResponses, noBody, web.workspace.PlayFile},
		{"GET /forms/{id}/files/{file}/thumbnail", readResponses, noBody, web.workspace.ShowThumbnail},
		{"POST /forms/{id}/pictures", writeForms, noBody, web.workspace.AddPicture},
		{"GET /forms/{id}/summary", readResponses, noBody, web.workspace.ShowSummary},

		{"POST /forms/{id}/people", manageSpace, maxPost, web.workspace.ShareForm},
		{"POST /forms/{id}/people/{person}", manageSpace, maxPost, web.workspace.ChangeShare},
		{"POST /forms/{id}/people/{person}/remove", manageSpace, maxPost, web.workspace.EndShare},
		{"POST /forms/{id}/invitations/{invitation}/again", manageSpace, maxPost, web.workspace.InviteToFormAgain},
		{"POST /forms/{id}/invitations/{invitation}/withdraw", manageSpace, maxPost, web.workspace.WithdrawFromForm},

		{"GET /spaces", signedIn, noBody, web.workspace.ListSpaces},
		{"POST /spaces", signedIn, maxPost, web.workspace.CreateSpace},
		{"GET /spaces/{space}", readSpace, noBody, web.workspace.ShowSpace},
		{"POST /spaces/{space}", manageSpace, maxPost, web.workspace.RenameSpace},
		{"POST /spaces/{space}/switch", readForms, maxPost, web.workspace.SwitchSpace},
		{"POST /spaces/{space}/leave", readForms, maxPost, web.workspace.LeaveSpace},
		{"POST /spaces/{space}/delete", manageSpace, maxPost, web.workspace.DeleteSpace},
		{"POST /spaces/{space}/members/{person}", manageSpace, maxPost, web.workspace.ChangeMember},
		{"POST /spaces/{space}/members/{person}/remove", manageSpace, maxPost, web.workspace.RemoveMember},
		{"POST /spaces/{space}/invitations", manageSpace, maxPost, web.workspace.InviteMember},
		{"POST /spaces/{space}/invitations/{invitation}/again", manageSpace, maxPost, web.workspace.InviteAgain},
		{"POST /spaces/{space}/invitations/{invitation}/withdraw", manageSpace, maxPost, web.workspace.WithdrawInvitation},
		{"GET /invitation", anyone, noBody, page.InAllLanguages(web.identity.ShowInvitation)},
		{"POST /invitation", anyone, maxPost, page.InAllLanguages(web.identity.AcceptInvitation)},
		{"GET /spaces/{space}/audit", readAudit, noBody, web.workspace.ShowAudit},
		{"GET /spaces/{space}/audit/download", readAudit, noBody, web.workspace.DownloadAudit},

		{"GET /signin", anyone, noBody, page.InAllLanguages(web.identity.ShowSignIn)},
		{"POST /signin", anyone, maxPost, page.InAllLanguages(web.identity.SignIn)},
		{"POST /signout", anyone, maxPost, web.identity.SignOut},
		{"GET /signup", anyone, noBody, web.identity.ShowSignUp},
		{"POST /signup", anyone, maxPost, web.identity.SignUp},
		{"GET /setup", anyone, noBody, web.identity.ShowSetup},
		{"POST /setup", anyone, maxPost, web.identity.Setup},
		{"GET /forgot", anyone, noBody, page.InAllLanguages(web.identity.ShowForgot)},
		{"POST /forgot", anyone, maxPost, page.InAllLanguages(web.identity.Forgot)},
		{"GET /reset", anyone, noBody, page.InAllLanguages(web.identity.ShowReset)},
		{"POST /reset", anyone, maxPost, page.InAllLanguages(web.identity.Reset)},
		{"GET /confirm", anyone, noBody, page.InAllLanguages(web.identity.ShowConfirm)},
		{"POST /confirm", anyone, maxPost, page.InAllLanguages(web.identity.Confirm)},

		{"GET /.well-known/change-password", anyone, noBody, web.identity.ChangePasswordAddress},

		{"GET /authorize", anyone, noBody, web.identity.Authorize},
		{"POST /authorize", signedIn, maxPost, web.identity.AnswerConsent},

		{"GET /account", signedIn, noBody, web.identity.ShowAccount},
		{"POST /account/profile", signedIn, maxPost, web.identity.ChangeProfile},
		{"POST /account/email", signedIn, maxPost, web.identity.ChangeEmail},
		{"POST /account/email/resend", signedIn, maxPost, web.identity.ResendEmailLink},
		{"POST /account/email/cancel", signedIn, maxPost, web.identity.CancelEmail},
		{"POST /account/password", signedIn, maxPost, web.identity.ChangePassword},
		{"POST /account/sessions/{id}/end", signedIn, maxPost, web.identity.EndSession},
		{"POST /account/sessions/end-others", signedIn, maxPost, web.identity.EndOtherSessions},
		{"POST /account/delete", signedIn, maxPost, web.identity.DeleteAccount},
		{"GET /account/download", signedIn, noBody, web.workspace.DownloadAccount},

		{"GET /applications", signedIn, noBody, web.identity.ListApplications},
		{"GET /applications/new", signedIn, noBody, web.identity.NewApplication},
		{"POST /applications", signedIn, maxPost, web.identity.CreateApplication},
		{"GET /applications/{id}", signedIn, noBody, web.identity.ShowApplication},
		{"POST /applications/{id}", signedIn, maxPost, web.identity.ChangeApplication},
		{"POST /applications/{id}/secrets", signedIn, maxPost, web.identity.AddSecret},
		{"POST /applications/{id}/secrets/{secret}/drop", signedIn, maxPost, web.identity.DeleteSecret},
		{"POST /applications/{id}/disable", signedIn, maxPost, web.identity.DisableApplication},
		{"POST /applications/{id}/enable", signedIn, maxPost, web.identity.EnableApplication},
		{"POST /applications/{id}/delete", signedIn, maxPost, web.identity.DeleteApplication},
		{"POST /applications/{id}/try", signedIn, maxPost, web.identity.TryApplication},

		{"GET /tokens", signedIn, noBody, web.identity.ListTokens},
		{"POST /tokens", signedIn, maxPost, web.identity.CreateToken},
		{"POST /tokens/{id}/revoke", signedIn, maxPost, web.identity.RevokeToken},

		{"GET /mails", signedIn, noBody, web.workspace.ListMails},
		{"GET /mails/{account}/{mail}", signedIn, noBody, web.workspace.ShowMail},
		{"GET /mails/{account}/{mail}/html", signedIn, noBody, web.workspace.ShowMailHTML},

		{"GET /notifications/confirm", anyone, noBody, page.InAllLanguages(web.identity.ShowConfirmRecipient)},
		{"POST /notifications/confirm", anyone, maxPost, page.InAllLanguages(web.identity.ConfirmRecipient)},
		{"GET /notifications/unsubscribe", anyone, noBody, page.InAllLanguages(web.identity.ShowUnsubscribe)},
		{"POST /notifications/unsubscribe", anyone, maxPost, page.InAllLanguages(web.identity.Unsubscribe)},

		{"GET /connections", signedIn, noBody, web.identity.ListConnectedApps},
		{"GET /connections/{id}", signedIn, noBody, web.identity.ShowGrant},
		{"POST /connections/{id}", signedIn, maxPost, web.identity.NarrowGrant},
		{"POST /connections/{id}/disconnect", signedIn, maxPost, web.identity.Disconnect},

		{"GET /f/{id}", anyone, noBody, web.public.ShowForm},
		{"POST /f/{id}", anyone, maxAnswers, web.public.AnswerForm},
		{"GET /f/{id}/rules", anyone, noBody, web.public.ShowRules},
		{"GET /f/{id}/done", anyone, noBody, web.public.ShowEnding},
		{"GET /f/{id}/card", anyone, noBody, web.public.ShowCard},
		{"GET /f/{id}/calendar", anyone, noBody, web.public.DownloadEvent},
		{"GET /embed.js", anyone, noBody, web.public.EmbedScript},
		{"GET /oembed", anyone, noBody, web.public.OEmbed},

		{"GET /docs/api", anyone, noBody, web.reference.ShowOverview},
		{"GET /docs/api/{operation}", anyone, noBody, web.reference.ShowOperation},
		{"GET /docs/api/callback", anyone, noBody, web.reference.ExplorerCallback},
		{"GET /static/{file}", anyone, noBody, web.site.ServeStatic},
		{"GET /favicon.ico", anyone, noBody, web.site.Favicon},
		{"GET " + SecurityTxt, anyone, noBody, web.securityTxt.serve},
	}
}
