package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// in finds something inside one of the account page's forms.
func in(action, selector string) string {
	return `form[action="/account/` + action + `"] ` + selector
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	b.press(link("Account"))
	b.fill(`input[name="name"]`, "Ada Lovelace")
	b.fill(`input[name="language"]`, "klingonisch")
	b.wantStatus(b.press(in("profile", "button")), 422)
	b.wantWords("valid language tag")
	b.fill(`input[name="language"]`, "pt-BR")
	b.wantStatus(b.press(in("profile", "button")), 200)
	b.wantWords("Profile saved.")
	b.open("/account")
	for field, want := range map[string]string{"name": "Ada Lovelace", "language": "pt-BR"} {
		if got := ask(b, chromedp.Value(`input[name="`+field+`"]`)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
}

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.AddUser("grace@example.com")
	b := visitor(t, s, ada)
	change := func(email, password string) int {
		b.open("/account")
		b.fill(in("email", `[name="email"]`), email)
		b.fill(in("email", `[name="current"]`), password)
		return b.press(button("Change email"))
	}
	b.wantStatus(change("ada@lovelace.example", "not-her-password"), 422)
	b.wantWords("The password is incorrect.")
	b.wantStatus(change("grace@example.com", clitest.Password), 422)
	b.wantStatus(change("ada@lovelace.example", clitest.Password), 200)
	b.wantWords("Email address changed.")

	visitor(t, s, "ada@lovelace.example")
	old := openTab(t, s.URL)
	old.open("/signin")
	old.fill(`input[name="email"]`, ada)
	old.fill(`input[name="password"]`, clitest.Password)
	old.wantStatus(old.press(button("Sign in")), 401)
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, elsewhere := visitor(t, s, ada), visitor(t, s, ada)
	const fresh = "seven-lamps-under-9-bridges"
	change := func(current, next string) int {
		b.open("/account")
		b.fill(in("password", `[name="current"]`), current)
		b.fill(in("password", `[name="password"]`), next)
		return b.press(button("Change password"))
	}
	b.wantStatus(change("not-her-password", fresh), 422)
	b.wantWords("The password is incorrect.")
	b.wantStatus(change(clitest.Password, "password"), 422)
	b.wantStatus(change(clitest.Password, fresh), 200)
	b.wantWords("Password changed. You have been signed out of all other sessions.")

	elsewhere.open("/account")
	elsewhere.wantPath("/signin")
	elsewhere.fill(`input[name="email"]`, ada)
	elsewhere.fill(`input[name="password"]`, clitest.Password)
	elsewhere.wantStatus(elsewhere.press(button("Sign in")), 401)
	elsewhere.fill(`input[name="password"]`, fresh)
	elsewhere.wantStatus(elsewhere.press(button("Sign in")), 200)
	elsewhere.wantPath("/account")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, second, third := visitor(t, s, ada), visitor(t, s, ada), visitor(t, s, ada)
	wantSessions := func(want int) {
		t.Helper()
		if got := b.count(".lines > li"); got != want {
			t.Fatalf("%d sessions are listed, want %d:\n%s", got, want, b.describe())
		}
	}
	alive := func(who *tab) bool {
		who.open("/account")
		return who.at().Path == "/account"
	}
	b.open("/account")
	wantSessions(3)
	b.wantWords("127.0.0.1", "this device", "Chrome")

	b.wantStatus(b.press(`//main//button[normalize-space()="Sign out"]`), 200)
	b.wantWords("Signed out of that session.")
	wantSessions(2)
	if alive(second) == alive(third) {
		t.Error("ending one session did not end exactly one of the two others")
	}

	b.wantStatus(b.press(button("Sign out of all other sessions")), 200)
	wantSessions(1)
	if alive(second) || alive(third) {
		t.Error("another session goes on")
	}
	if !alive(b) {
		t.Error("one's own session ended too")
	}
}

func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := register(t, s)
	token := s.Token(ada, app.App, "forms:read")
	b := visitor(t, s, ada)
	remove := func(password string) int {
		b.open("/account")
		b.fill(in("delete", `[name="current"]`), password)
		return b.press(button("Delete my account"))
	}
	b.wantStatus(remove("not-her-password"), 422)
	b.wantWords("The password is incorrect.")
	b.wantStatus(remove(clitest.Password), 200)
	b.wantPath("/signin")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign in")), 401)
	if code := me(t, s, token.Access); code != 401006 && code != 401001 {
		t.Errorf("a token of the deleted account gives %d", code)
	}
}
