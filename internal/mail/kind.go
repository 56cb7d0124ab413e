package mail

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind is a mail before it is written. Its exported fields are what the mail needs, and are
// stored as JSON until it is sent.
type Kind interface {
	// Name is stored with the mail.
	Name() string
	// Compose says what the mail is about.
	Compose(t Texts) Content
}

// Traits of kinds that are implemented where they apply.
type (
	// secretive is a kind with a secret, such as a link that changes a password. It is stored
	// encrypted, and erased after the mail was sent.
	secretive interface{ HasSecret() }
	// urgent is a kind whose recipient waits for it.
	urgent interface{ IsUrgent() }
	// expiring is a kind that is of no use after a time, such as one with a link.
	expiring interface{ ExpiresAt() time.Time }
)

// HasSecret reports whether a mail must not be stored readably.
func HasSecret(k Kind) bool {
	_, ok := k.(secretive)
	return ok
}

// IsUrgent reports whether the recipient waits for the mail.
func IsUrgent(k Kind) bool {
	_, ok := k.(urgent)
	return ok
}

// IsExpired reports whether the mail is of no use any more.
func IsExpired(k Kind, now time.Time) bool {
	e, ok := k.(expiring)
	return ok && !now.Before(e.ExpiresAt())
}

// kinds creates the kinds that are stored as JSON, by name. Mails about responses are not: they
// are made from the response.
var kinds = map[string]func() Kind{
	Test{}.Name():             func() Kind { return &Test{} },
	ConfirmRecipient{}.Name(): func() Kind { return &ConfirmRecipient{} },
	PasswordReset{}.Name():    func() Kind { return &PasswordReset{} },
	ConfirmEmail{}.Name():     func() Kind { return &ConfirmEmail{} },
	NewSignIn{}.Name():        func() Kind { return &NewSignIn{} },
	PasswordChanged{}.Name():  func() Kind { return &PasswordChanged{} },
	EmailChanged{}.Name():     func() Kind { return &EmailChanged{} },
	NewGrant{}.Name():         func() Kind { return &NewGrant{} },
	NewToken{}.Name():         func() Kind { return &NewToken{} },
	StorageFull{}.Name():      func() Kind { return &StorageFull{} },
	Invitation{}.Name():       func() Kind { return &Invitation{} },
	Retention{}.Name():        func() Kind { return &Retention{} },
}

// ParseKind reads a kind as json.Marshal has written it.
func ParseKind(name string, data []byte) (Kind, error) {
	create, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("%q is not a kind of mail", name)
	}
	kind := create()
	if err := json.Unmarshal(data, kind); err != nil {
		return nil, fmt.Errorf("parse mail %q: %w", name, err)
	}
	return kind, nil
}

// Test is the mail with which an administrator tries the configuration.
type Test struct {
	BaseURL string
}

// Name implements Kind.
func (Test) Name() string { return "test" }

// Compose implements Kind.
func (m Test) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Email from Formulary works"), Heading: t.T("Email works"),
		Paragraphs: []string{t.T("Formulary can send email with these settings.")},
		Button:     Link{t.T("Open Formulary"), m.BaseURL},
		Footer:     t.T("An administrator sent this to test the settings."),
	}
}

// IsReceipt reports whether it is the name of Receipt.
func IsReceipt(name string) bool { return name == Receipt{}.Name() }

// IsConfirmRecipient reports whether it is the name of ConfirmRecipient.
func IsConfirmRecipient(name string) bool { return name == ConfirmRecipient{}.Name() }
