package web

import "formulary/internal/fault"

// errorMeanings are all errors that the API can answer with.
var errorMeanings = []apiError{
	{fault.BadQuery, "A parameter or a header is not valid."},
	{fault.BadJSON, "The body is not valid JSON, or has a field that is unknown or given twice."},
	{fault.InvalidRequest, "`invalid_request`: something is missing, repeated or malformed."},
	{fault.InvalidGrant, "`invalid_grant`: the code or the refresh token is unknown, used, expired or not yours."},
	{fault.UnsupportedGrant, "`unsupported_grant_type`: this address does not take the grant."},
	{fault.InvalidScope, "`invalid_scope`: the scope is unknown, or wider than what was granted."},
	{fault.UnauthorizedClient, "`unauthorized_client`: the application is no longer registered for anything that it was granted."},
	{fault.InvalidToken, "The access token is unknown or revoked."},
	{fault.NoAuthorization, "There is no `Authorization` header."},
	{fault.NotBearer, "The type of the `Authorization` header is not Bearer."},
	{fault.ExpiredToken, "The access token has expired: refresh it, then repeat the call."},
	{fault.UserNotFound, "The person behind the token has no account any more."},
	{fault.InvalidClient, "`invalid_client`: the `client_id` or the secret is wrong."},
	{fault.MissingScope, "The token lacks the scope that the message names."},
	{fault.UnknownPath, "There is nothing at this path."},
	{fault.NotFoundInAccount, "There is no such resource in this account."},
	{fault.MethodNotAllowed, "The path does not take this method; `Allow` says which it takes."},
	{fault.Conflict, "Somebody changed it meanwhile: read it again, then repeat the call."},
	{fault.IdempotencyKeyReused, "The `Idempotency-Key` was used with another body."},
	{fault.FormNotOpen, "The form is not open."},
	{fault.QuotaReached, "The account has reached a limit, which the message names."},
	{fault.TooLarge, "The body is too large."},
	{fault.UnsupportedMedia, "The body is of another content type than the operation takes."},
	{fault.Invalid, "The input is not valid; `details` says which field, and why."},
	{fault.RateLimited, "Too many requests: wait for as many seconds as `Retry-After` says."},
	{fault.Internal, "Our fault; please quote the id in the message."},
	{fault.DatabaseUnreachable, "The database is out of reach: repeat the call after `Retry-After` seconds."},
}

func errorMeaning(code fault.Code) string {
	for _, known := range errorMeanings {
		if known.Code == code {
			return known.When
		}
	}
	return ""
}
