package reference

import "formulary/internal/fault"

// errorMeanings are all errors of the API.
var errorMeanings = []apiError{
	{fault.BadQuery, "A parameter or header is invalid."},
	{fault.BadJSON, "The body is not valid JSON, or it contains an unknown or duplicate field."},
	{fault.BadRequest, "The upload ended before the whole file was received, or was too slow."},
	{fault.InvalidRequest, "`invalid_request`: a parameter is missing, repeated or malformed."},
	{fault.InvalidGrant, "`invalid_grant`: the code or refresh token is invalid, used, expired or was issued to another application."},
	{fault.UnsupportedGrant, "`unsupported_grant_type`: this endpoint does not support the grant type."},
	{fault.InvalidScope, "`invalid_scope`: the scope is unknown or exceeds what was granted."},
	{fault.UnauthorizedClient, "`unauthorized_client`: the application is no longer registered for any of the granted scopes."},
	{fault.InvalidToken, "The access token is invalid or has been revoked."},
	{fault.NoAuthorization, "The `Authorization` header is missing."},
	{fault.NotBearer, "The `Authorization` header does not use the Bearer scheme."},
	{fault.ExpiredToken, "The access token has expired. Refresh it and retry."},
	{fault.UserNotFound, "The user this token belongs to no longer exists."},
	{fault.InvalidClient, "`invalid_client`: the `client_id` or client secret is incorrect."},
	{fault.MissingScope, "The token is missing the scope named in the message."},
	{fault.MissingRole, "The user’s role in the space does not allow this."},
	{fault.UnknownPath, "No endpoint exists at this path."},
	{fault.NotFoundInAccount, "Not found in this account."},
	{fault.MethodNotAllowed, "Method not allowed. See the `Allow` header."},
	{fault.Conflict, "The resource has changed since you read it. Fetch it again and retry."},
	{fault.IdempotencyKeyReused, "This `Idempotency-Key` was already used with a different request body."},
	{fault.FormNotOpen, "The form is not open."},
	{fault.QuotaReached, "The account has reached a limit named in the message."},
	{fault.FileBlocked, "The file was not scanned for malware yet, or contains malware."},
	{fault.TooLarge, "The request body is too large."},
	{fault.UnsupportedMedia, "The content type is not supported by this operation."},
	{fault.BadRange, "The file has no bytes in the requested range."},
	{fault.Invalid, "Validation failed. See `details` for the fields and reasons."},
	{fault.RateLimited, "Too many requests. Wait for the number of seconds in `Retry-After`."},
	{fault.Internal, "An error on our side. Include the request ID from the message when you report it."},
	{fault.DatabaseUnreachable, "The database is unavailable. Retry after the number of seconds in `Retry-After`."},
}

func errorMeaning(code fault.Code) string {
	for _, known := range errorMeanings {
		if known.Code == code {
			return known.When
		}
	}
	return ""
}
