package web

import "formulary/internal/account"

// Route is a row of the route table.
type Route struct {
	Pattern  string
	Needs    account.Scope // permission in the space
	Whole    bool          // it is needed for the whole space
	SignedIn bool
}

// Routes returns the route table.
func Routes() (list []Route) {
	for _, r := range new(Handler).routes() {
		list = append(list, Route{r.pattern, r.access.needs, r.access.whole, r.access.signedIn})
	}
	return list
}
