package workspace

import (
	"strings"
	"testing"
)

func TestQuickQuestions(t *testing.T) {
	var got []string
	for _, f := range quickQuestions("Your name\r\n\n 1. Your e-mail \n- Which cake?: Carrot, Cheese,, Carrot \n* Any comments\nTime: 10:30\n: a, b\nWie viele Gäste?\n") {
		line := f.Kind + " " + f.Label
		for _, o := range f.Options {
			line += "/" + o.Label
		}
		got = append(got, line)
	}
	want := "short_text Your name|email Your e-mail|single_choice Which cake?/Carrot/Cheese|long_text Any comments|short_text Time: 10:30|short_text : a, b|number Wie viele Gäste?"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if n := len(quickQuestions(strings.Repeat("x\n", 60_000))); n != maxQuickQuestions {
		t.Errorf("%d questions", n)
	}
}
