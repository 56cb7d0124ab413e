package web

import "formulary/internal/web/page"

// access says who may request a page.
type access int

const (
	anyone access = iota
	signedIn
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
		{"GET /{$}", signedIn, noBody, web.workspace.Home},
		{"GET /live", signedIn, noBody, web.workspace.Live},

		{"POST /forms", signedIn, maxPost, web.workspace.CreateForm},
		{"GET /templates", signedIn, noBody, web.workspace.ShowTemplates},
		{"GET /templates/{name}", signedIn, noBody, web.workspace.ShowTemplates},
		{"GET /templates/{name}/picture", signedIn, noBody, web.workspace.ShowTemplatePicture},
		{"GET /templates/{name}/preview", signedIn, noBody, web.workspace.PreviewTemplate},
		{"POST /templates/{name}/preview", signedIn, maxAnswers, web.workspace.PreviewTemplate},
		{"POST /forms/{id}/duplicate", signedIn, maxPost, web.workspace.DuplicateForm},
		{"POST /forms/{id}/folder", signedIn, maxPost, web.workspace.MoveForm},
		{"POST /folders", signedIn, maxPost, web.workspace.ChangeFolder},
		{"POST /forms/{id}/delete", signedIn, maxPost, web.workspace.DeleteForm},
		{"POST /forms/{id}/restore", signedIn, maxPost, web.workspace.RestoreForm},
		{"GET /forms/{id}/build", signedIn, noBody, web.workspace.ShowBuilder},
		{"PUT /forms/{id}/draft", signedIn, maxDraft, web.workspace.SaveDraft},
		{"POST /forms/{id}/formula", signedIn, maxPost, web.workspace.TryFormula},
		{"GET /forms/{id}/check", signedIn, noBody, web.workspace.CheckDraft},
		{"POST /forms/{id}/publish", signedIn, maxPost, web.workspace.PublishForm},
		{"GET /forms/{id}/preview", signedIn, noBody, web.workspace.Preview},
		{"POST /forms/{id}/preview", signedIn, maxAnswers, web.workspace.Preview},
		{"GET /forms/{id}/versions", signedIn, noBody, web.workspace.ShowVersions},
		{"POST /forms/{id}/versions/{version}/restore", signedIn, maxPost, web.workspace.RestoreVersion},
		{"GET /forms/{id}/flow", signedIn, noBody, web.workspace.ShowFlow},
		{"GET /forms/{id}/design", signedIn, noBody, web.workspace.ShowDesign},
		{"POST /forms/{id}/design", signedIn, maxPost, web.workspace.ChangeDesign},
		{"POST /forms/{id}/design/themes", signedIn, maxPost, web.workspace.SaveTheme},
		{"POST /forms/{id}/design/themes/{theme}/apply", signedIn, maxPost, web.workspace.ApplyTheme},
		{"POST /forms/{id}/design/themes/{theme}/rename", signedIn, maxPost, web.workspace.RenameTheme},
		{"POST /forms/{id}/design/themes/{theme}/delete", signedIn, maxPost, web.workspace.DeleteTheme},
		{"GET /forms/{id}/share", signedIn, noBody, web.workspace.ShowShare},
		{"POST /forms/{id}/share", signedIn, maxPost, web.workspace.ChangeAvailability},
		{"POST /forms/{id}/retention", signedIn, maxPost, web.workspace.ChangeRetention},
		{"GET /forms/{id}/embed/{mode}", signedIn, noBody, web.workspace.ShowEmbedSample},
		{"GET /forms/{id}/prefill", signedIn, noBody, web.workspace.PrefilledLink},
		{"POST /forms/{id}/close", signedIn, maxPost, web.workspace.CloseForm},
		{"POST /forms/{id}/open", signedIn, maxPost, web.workspace.ReopenForm},
		{"GET /forms/{id}/code/{kind}", signedIn, noBody, web.workspace.QRCode},
		{"GET /forms/{id}/connect", signedIn, noBody, web.workspace.ShowConnect},
		{"POST /forms/{id}/connect", signedIn, maxPost, web.workspace.CreateWebhook},
		{"GET /forms/{id}/connect/new", signedIn, noBody, web.workspace.NewWebhook},
		{"GET /forms/{id}/connect/notify", signedIn, noBody, web.workspace.ShowNotify},
		{"POST /forms/{id}/connect/notify", signedIn, maxPost, web.workspace.ChangeNotifications},
		{"GET /forms/{id}/connect/notify/preview", signedIn, noBody, web.workspace.PreviewNotification},
		{"POST /forms/{id}/connect/receipt", signedIn, maxMail, web.workspace.ChangeReceipt},
		{"GET /forms/{id}/connect/receipt/preview", signedIn, noBody, web.workspace.PreviewReceipt},
		{"POST /forms/{id}/connect/receipt/preview", signedIn, maxMail, web.workspace.PreviewReceipt},
		{"GET /forms/{id}/connect/{webhook}", signedIn, noBody, web.workspace.ShowWebhook},
		{"POST /forms/{id}/connect/{webhook}", signedIn, maxPost, web.workspace.ChangeWebhook},
		{"POST /forms/{id}/connect/{webhook}/pause", signedIn, maxPost, web.workspace.PauseWebhook},
		{"POST /forms/{id}/connect/{webhook}/resume", signedIn, maxPost, web.workspace.ResumeWebhook},
		{"POST /forms/{id}/connect/{webhook}/test", signedIn, maxPost, web.workspace.TestWebhook},
		{"POST /forms/{id}/connect/{webhook}/rotate", signedIn, maxPost, web.workspace.RotateWebhookSecret},
		{"POST /forms/{id}/connect/{webhook}/replay", signedIn, maxPost, web.workspace.ReplayWebhook},
		{"POST /forms/{id}/connect/{webhook}/delete", signedIn, maxPost, web.workspace.DeleteWebhook},
		{"POST /forms/{id}/connect/{webhook}/deliveries/{delivery}/resend", signedIn, maxPost, web.workspace.ResendDelivery},
		{"GET /forms/{id}/responses", signedIn, noBody, web.workspace.ShowResponses},
		{"GET /forms/{id}/responses/export", signedIn, noBody, web.workspace.ExportResponses},
		{"POST /forms/{id}/responses/delete", signedIn, maxPost, web.workspace.DeleteResponses},
		{"POST /forms/{id}/responses/layout", signedIn, maxPost, web.workspace.ArrangeResponses},
		{"POST /forms/{id}/responses/views", signedIn, maxPost, web.workspace.SaveView},
		{"POST /forms/{id}/responses/views/{view}/delete", signedIn, maxPost, web.workspace.DeleteView},
		{"POST /forms/{id}/responses/restore", signedIn, maxPost, web.workspace.RestoreResponses},
		{"POST /forms/{id}/responses/mark", signedIn, maxPost, web.workspace.MarkResponses},
		{"GET /forms/{id}/responses/{response}", signedIn, noBody, web.workspace.ShowResponse},
		{"GET /forms/{id}/responses/{response}/detail", signedIn, noBody, web.workspace.ShowResponseDetail},
		{"GET /forms/{id}/responses/{response}/edit", signedIn, noBody, web.workspace.EditResponse},
		{"POST /forms/{id}/responses/{response}/edit", signedIn, maxAnswers, web.workspace.EditResponse},
		{"POST /forms/{id}/responses/{response}/notes", signedIn, maxPost, web.workspace.ChangeNotes},
		{"GET /forms/{id}/responses/{response}/files", signedIn, noBody, web.workspace.DownloadResponseFiles},
		{"GET /forms/{id}/files/{file}", signedIn, noBody, web.workspace.DownloadFile},
		{"GET /forms/{id}/files/{file}/play", signedIn, noBody, web.workspace.PlayFile},
		{"GET /forms/{id}/files/{file}/thumbnail", signedIn, noBody, web.workspace.ShowThumbnail},
		{"POST /forms/{id}/pictures", signedIn, noBody, web.workspace.AddPicture},
		{"GET /forms/{id}/summary", signedIn, noBody, web.workspace.ShowSummary},

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
