package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// accountForm returns a selector for an element of one of the forms on the account
// page.
func accountForm(action, selector string) string {
	return `form[action="/account/` + action + `"] ` + selector
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.press(link("Account"))
	b.fill(`input[name="name"]`, "Ada Lovelace")
	b.fill(`input[name="language"]`, "klingonisch")
	b.wantStatus(b.press(accountForm("profile", "button:not([type])")), 422)
	b.wantText("valid language tag")
	b.fill(`input[name="language"]`, "pt-BR")
	b.wantStatus(b.press(accountForm("profile", "button:not([type])")), 200)
	b.wantText("Profile saved.")
	b.open("/account")
	for field, want := range map[string]string{"name": "Ada Lovelace", "language": "pt-BR"} {
		if got := run(b, chromedp.Value(`input[name="`+field+`"]`)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
}

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.AddUser("grace@example.com")
	b := signedInTab(t, s, ada)
	change := func(email, password string) int {
		b.open("/account")
		b.fill(accountForm("email", `[name="email"]`), email)
		b.fill(accountForm("email", `[name="current"]`), password)
		return b.press(button("Change email"))
	}
	b.wantStatus(change("ada@lovelace.example", "not-her-password"), 422)
	b.wantText("The password is incorrect.")
	b.wantStatus(change("grace@example.com", clitest.Password), 422)
	b.wantStatus(change("ada@lovelace.example", clitest.Password), 200)
	b.wantText("Email address changed.")

	signedInTab(t, s, "ada@lovelace.example")
	old := openTab(t, s.URL)
	old.open("/signin")
	old.fill(`input[name="email"]`, ada)
	old.fill(`input[name="password"]`, clitest.Password)
	old.wantStatus(old.press(button("Sign in")), 401)
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, otherTab := signedInTab(t, s, ada), signedInTab(t, s, ada)
	const newPassword = "seven-lamps-under-9-bridges"
	change := func(current, next string) int {
		b.open("/account")
		b.fill(accountForm("password", `[name="current"]`), current)
		b.fill(accountForm("password", `[name="password"]`), next)
		return b.press(button("Change password"))
	}
	b.wantStatus(change("not-her-password", newPassword), 422)
	b.wantText("The password is incorrect.")
	b.wantStatus(change(clitest.Password, "password"), 422)
	b.wantStatus(change(clitest.Password, newPassword), 200)
	b.wantText("Password changed. You have been signed out of all other sessions.")

	otherTab.open("/account")
	otherTab.wantPath("/signin")
	otherTab.fill(`input[name="email"]`, ada)
	otherTab.fill(`input[name="password"]`, clitest.Password)
	otherTab.wantStatus(otherTab.press(button("Sign in")), 401)
	otherTab.fill(`input[name="password"]`, newPassword)
	otherTab.wantStatus(otherTab.press(button("Sign in")), 200)
	otherTab.wantPath("/account")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, second, third := openTab(t, s.URL), signedInTab(t, s, ada), signedInTab(t, s, ada)
	b.open("/signin")
	b.signIn(ada)
	wantSessions := func(want int) {
		t.Helper()
		if got := b.count(".divided-list > li"); got != want {
			t.Fatalf("%d sessions are listed, want %d:\n%s", got, want, b.describe())
		}
	}
	isSignedIn := func(other *tab) bool {
		other.open("/account")
		return other.location().Path == "/account"
	}
	b.open("/account")
	wantSessions(3)
	b.wantText("127.0.0.1", "this device", "Chrome")

	b.wantStatus(b.press(`//main//button[normalize-space()="Sign out"]`), 200)
	b.wantText("Signed out of that session.")
	wantSessions(2)
	if isSignedIn(second) == isSignedIn(third) {
		t.Error("ending one session did not end exactly one of the two others")
	}

	b.wantStatus(b.press(button("Sign out of all other sessions")), 200)
	wantSessions(1)
	if isSignedIn(second) || isSignedIn(third) {
		t.Error("another session still works")
	}
	if !isSignedIn(b) {
		t.Error("the current session ended too")
	}
}

func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := registerApp(t, s)
	token := s.Token(ada, app.App, "forms:read")
	b := signedInTab(t, s, ada)
	remove := func(password string) int {
		b.open("/account")
		b.fill(accountForm("delete", `[name="current"]`), password)
		return b.press(button("Delete my account"))
	}
	b.wantStatus(remove("not-her-password"), 422)
	b.wantText("The password is incorrect.")
	b.wantStatus(remove(clitest.Password), 200)
	b.wantPath("/signin")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign in")), 401)
	if code := meErrorCode(t, s, token.Access); code != 401006 && code != 401001 {
		t.Errorf("a token of the deleted account gives %d", code)
	}
}
