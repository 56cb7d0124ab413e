package outbox

import "errors"

// IsGone reports whether a mail cannot be written any more, because what it is about is deleted.
func IsGone(err error) bool { return errors.Is(err, errGone) }
