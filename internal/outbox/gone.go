package outbox

import "errors"

// IsGone reports whether a mail cannot be written any more, because what it is about is deleted.
func IsGone(err error) bool { return errors.Is(err, errGone) }

// IsSuppressed reports whether a mail failed without an attempt, because its address was refused
// before.
func IsSuppressed(reason string) bool { return reason == errSuppressed.Error() }
