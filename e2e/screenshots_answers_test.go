//go:build screenshots

package e2e

import (
	"fmt"
	"strings"
)

var (
	givenNames = []string{"Ada", "Amina", "Ben", "Carla", "Chen", "Dario", "Elif", "Emma", "Farid", "Greta", "Hanna", "Ines", "Jonas", "Kofi", "Lena", "Luca", "Maya", "Noor", "Olga", "Pablo", "Rosa", "Samir", "Tom", "Yuki"}
	familyName = []string{"Adeyemi", "Albrecht", "Bauer", "Costa", "Demir", "Fischer", "Garcia", "Haddad", "Ivanova", "Jansen", "Kowalski", "Laurent", "Moreau", "Nguyen", "Okafor", "Petrov", "Rossi", "Sato", "Silva", "Weber"}
	praises    = []string{
		"The people. You always find somebody who has time for a question.", "That I could bring my children to the workshop and nobody minded.", "Small groups, good coffee, honest prices.",
		"The evening courses: the only ones in town that begin after seven.", "Everything is explained until the last of us has got it.", "The new kiln!", "You answer mails on the same day. Who else does that?",
		"The workshop on Saturdays is the best part of my week.", "How calm it is.",
	}
	wishes = []string{
		"More dates at the weekend.", "A waiting list that one can see.", "Online payment.", "A little more light in the back room.", "I would like to know sooner whether a course takes place.",
		"Bicycle stands.", "A beginners’ workshop in the spring as well.",
	}
	troubles = []string{
		"My booking was lost and nobody called me back.", "The course was cancelled the evening before.", "Too loud, and too many people for one teacher.", "I waited for three weeks for an answer about the workshop.",
	}
	songs = []string{"Dancing Queen, ABBA", "September, Earth, Wind & Fire", "Bésame mucho", "Murder on the Dancefloor", "Lambada", "Take on me"}
)

// pickOne returns a random element.
func (w demoData) pickOne(list []string) string { return list[w.rng.IntN(len(list))] }

// pickWeighted returns a random element, earlier ones more often.
func (w demoData) pickWeighted(list ...string) string {
	return list[min(w.rng.IntN(len(list)), w.rng.IntN(len(list)))]
}

// chance returns true with a probability of tenths out of 10.
func (w demoData) chance(tenths int) bool { return w.rng.IntN(10) < tenths }

func (w demoData) person() (map[string]any, string) {
	given, family := w.pickOne(givenNames), w.pickOne(familyName)
	return map[string]any{"given": given, "family": family}, strings.ToLower(given + "." + family + "@example.com")
}

// customer returns answers to the customer feedback form. Answers to hidden questions
// are dropped later.
func (w demoData) customer() map[string]any {
	_, mail := w.person()
	score := []int{10, 9, 9, 10, 8, 8, 7, 9, 10, 6, 8, 5, 10, 3, 7}[w.rng.IntN(15)]
	answers := map[string]any{"score": float64(score), "source": w.pickWeighted("newsletter", "website", "poster")}
	if w.chance(7) {
		answers["criticism"], answers["missing"], answers["praise"] = w.pickOne(troubles), w.pickOne(wishes), w.pickOne(praises)
	}
	if w.chance(6) {
		answers["may_quote"] = true
	}
	if w.chance(6) {
		answers["quoted_as"] = w.pickOne(givenNames) + " " + w.pickOne(familyName)[:1] + "."
	}
	if w.chance(8) {
		first, second := w.pickWeighted("information", "speed", "price", "quality", "support"), w.pickWeighted("price", "support", "information")
		picks := []any{first}
		if second != first && w.chance(5) {
			picks = append(picks, second)
		}
		answers["improve"] = picks
	}
	if w.chance(9) {
		answers["service"] = float64(max(1, min(5, score/2+w.rng.IntN(2))))
	}
	answers["may_contact"], answers["email"] = w.chance(6), mail
	return answers
}

// guest returns answers to the invitation.
func (w demoData) guest() map[string]any {
	answers := map[string]any{"name": w.pickOne(givenNames) + " " + w.pickOne(familyName), "coming": w.chance(8), "regrets": "We are at the sea that week. Have a wonderful evening!", "people": float64(1 + w.rng.IntN(3)), "companions": w.pickOne(givenNames)}
	if w.chance(5) {
		answers["food"] = []any{w.pickWeighted("vegetarian", "vegan", "no_alcohol", "gluten_free")}
	}
	if w.chance(7) {
		answers["song"] = w.pickOne(songs)
	}
	return answers
}

// pupil returns answers to the course survey.
func (w demoData) pupil() map[string]any {
	rows := map[string]any{}
	for _, row := range []string{"goals", "explained", "questions", "practice"} {
		rows[row] = w.pickWeighted("fully", "mostly", "partly", "hardly")
	}
	order := []any{"exercises", "talks", "discussion", "material"}
	if w.chance(5) {
		w.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	answers := map[string]any{
		"overall": float64(5 - min(w.rng.IntN(4), w.rng.IntN(4))), "trainer": float64(5 - min(w.rng.IntN(3), w.rng.IntN(4))), "statements": rows, "pace": w.pickWeighted("right", "too_fast", "too_slow"),
		"hours": float64(w.rng.IntN(6)), "helpful": order, "more_of": []any{w.pickWeighted("examples", "one_to_one", "group_work", "theory")}, "to_change": w.pickOne(wishes),
	}
	if w.chance(3) {
		answers["comment"] = "Thank you. I would come again."
	}
	return answers
}

// visitor returns a registration for the event.
func (w demoData) visitor() map[string]any {
	name, mail := w.person()
	answers := map[string]any{
		"name": name, "email": mail, "participation": w.pickWeighted("on_site", "on_site", "online"), "guests": float64(min(w.rng.IntN(4), w.rng.IntN(4))), "guest_names": w.pickOne(givenNames) + " " + w.pickOne(familyName),
		"food": []any{w.pickWeighted("everything", "vegetarian", "vegan")}, "workshop": w.pickWeighted("none", "beginners", "none", "advanced"), "updates": w.chance(6),
	}
	if w.chance(4) {
		answers["question"] = "Will there be a recording?"
	}
	return answers
}

// orderer returns an order.
func (w demoData) orderer() map[string]any {
	name, mail := w.person()
	extras := []any{}
	if w.chance(4) {
		extras = append(extras, "wrapping")
	}
	if w.chance(3) {
		extras = append(extras, "card")
	}
	answers := map[string]any{
		"product": w.pickWeighted("medium", "small", "large"), "quantity": float64(1 + min(w.rng.IntN(5), w.rng.IntN(5))), "card_text": "All the best from all of us!", "delivery": w.pickWeighted("shipping", "collection"),
		"address": map[string]any{"line1": fmt.Sprintf("Mill Lane %d", 1+w.rng.IntN(60)), "city": "Bonn", "postal_code": "53111", "country": "DE"}, "name": name, "email": mail,
		"collect_at": w.now.AddDate(0, 0, 3+w.rng.IntN(9)).Format("2006-01-02") + "T16:30",
	}
	if len(extras) > 0 {
		answers["extras"] = extras
	}
	return answers
}
