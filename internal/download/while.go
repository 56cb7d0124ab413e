package download

// checkEvery is how many rows are sent between two checks.
const checkEvery = 16

// While returns fn for the rows of a long download: it stops with an error once allowed returns
// one.
func While[T any](allowed func() error, fn func(T) error) func(T) error {
	n := 0
	return func(row T) error {
		if n++; n%checkEvery == 0 {
			if err := allowed(); err != nil {
				return err
			}
		}
		return fn(row)
	}
}
