package cli

// demoAnswerTexts are the text answers of the demo, by question key.
var demoAnswerTexts = map[string][]string{
	"summary": {
		"The export stops at the first page", "Signing in twice shows an empty list", "Dates are one day early in the calendar", "The menu covers the search box on my phone",
	},
	"steps": {
		"Opened the list, chose last month and clicked Export.", "Signed in, went back, signed in again.", "Added an appointment for the 31st and opened the week view.",
	},
	"actual":     {"The file had 20 rows, but the list has 143.", "The page was blank until I reloaded it.", "It showed up on the 30th."},
	"expected":   {"All rows in the list.", "My list, like the first time.", "The day I chose."},
	"workaround": {"Exporting week by week.", "Reloading the page.", "No, I have to do it by hand."},
	"to_change":  {"Mehr Zeit für die Übungen.", "Ein Skript, in dem man nachlesen kann.", "Kleinere Gruppen, bitte!"},
	"comment":    {"Selten so viel an einem Tag gelernt. Danke!", "Der Raum war etwas kühl, der Kaffee dafür gut.", "Ich freue mich auf den zweiten Teil."},
	"regrets":    {"We will raise a glass to you from afar.", "I would have loved to come. Send pictures!", "Have a wonderful day, both of you."},
	"song":       {"Dancing Queen", "September", "I Wanna Dance with Somebody", "Blue Suede Shoes", "Billie Jean"},
	"companions": {"My sister", "Two hungry children", "My partner"},
	"guest_names": {
		"Charles and Mary", "My colleague Sophie", "Niklaus, Bjarne and Guido",
	},
	"allergies": {"Nuts", "Lactose", "Shellfish", "None that I know of"},
	"question": {
		"How did you find your first hundred customers?", "What would you do differently if you started again?", "Will you share the slides afterwards?",
	},
	"criticism": {
		"I waited eight days for a reply, and it answered a different question.", "The parcel was already open when it arrived.", "The second invoice was wrong too.",
		"Nobody could tell me when it would be repaired.",
	},
	"missing": {"Saturday opening hours.", "A way to change an order after placing it.", "Replies by email instead of phone."},
	"praise": {
		"Someone called back within the hour and knew what I needed.", "It simply works, year after year.", "You repaired what others would have thrown away.",
		"The handwritten note in the parcel!",
	},
}
