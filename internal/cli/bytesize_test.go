package cli

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "500MB": 500e6, "10GB": 10e9, "10 gb": 10e9, "2kb": 2000, "1TB": 1e12,
		"": -1, "x": -1, "-1": -1, "1.5GB": -1, "9223372036854775807GB": -1, "10XB": -1,
	} {
		got := byteSize(-1)
		if err := got.UnmarshalText([]byte(text)); (err != nil) != (want < 0) || int64(got) != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}
