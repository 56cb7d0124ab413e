package identity

import (
	"strings"

	"formulary/internal/account"
	"formulary/internal/web/page"
)

// A device is a browser in which a user has signed in before. Its cookie stays after
// sign-out. The cookie gives no access: it only gives attempts at the password a limit
// apart from that of strangers.

// maxDeviceKeys is the number of accounts that know one browser.
const maxDeviceKeys = 5

func (pages *Pages) deviceCookie() string { return pages.Sessions.CookieName() + "-device" }

// deviceKeys are the keys in the device cookie, one per account, newest first.
func (pages *Pages) deviceKeys(req *page.Request) []string {
	cookie, err := req.Cookie(pages.deviceCookie())
	if err != nil {
		return nil
	}
	keys := strings.SplitN(cookie.Value, ".", maxDeviceKeys+1)
	return keys[:min(len(keys), maxDeviceKeys)]
}

// knownDevice returns the key with which this browser is known to a user.
func (pages *Pages) knownDevice(req *page.Request, userID string) (text string, key account.SecretRef, known bool, err error) {
	for _, text := range pages.deviceKeys(req) {
		if key, ok := account.ParseSecret(account.DeviceKey, text); ok && key.Account == userID {
			known, err := pages.Store.KnowsDevice(req.Context(), key, pages.Now())
			return text, key, known, err
		}
	}
	return "", account.SecretRef{}, false, nil
}

// keepDevice makes this browser known to a user, or extends how long it is known.
func (pages *Pages) keepDevice(req *page.Request, userID string) error {
	text, key, known, err := pages.knownDevice(req, userID)
	if err != nil {
		return err
	}
	if !known {
		secret := account.NewSecret(account.DeviceKey, userID, pages.Now())
		text, key = secret.Text, secret.Ref()
	}
	if err := pages.Store.KeepDevice(req.Context(), key, pages.Now()); err != nil {
		return err
	}
	keys := []string{text}
	for _, other := range pages.deviceKeys(req) {
		if k, ok := account.ParseSecret(account.DeviceKey, other); ok && k.Account != userID && len(keys) < maxDeviceKeys {
			keys = append(keys, other)
		}
	}
	pages.Sessions.SetCookie(req, pages.deviceCookie(), strings.Join(keys, "."), account.DeviceIdle)
	return nil
}

// parseAgent returns the usual names of a browser and its system; empty: not known. The order
// matters: most browsers claim to be others as well.
func parseAgent(agent string) (browser, system string) {
	find := func(list [][2]string) string {
		for _, known := range list {
			if strings.Contains(agent, known[0]) {
				return known[1]
			}
		}
		return ""
	}
	browser = find([][2]string{
		{"Firefox/", "Firefox"}, {"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"},
		{"Chrome/", "Chrome"}, {"Chromium", "Chromium"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	})
	system = find([][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	})
	return browser, system
}

// browserName returns the names of a browser and its system on one line.
func browserName(agent string) string {
	browser, system := parseAgent(agent)
	switch {
	case browser == "":
		return "Unknown browser"
	case system == "":
		return browser
	}
	return browser + " on " + system
}
