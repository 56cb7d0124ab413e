// Formulary is an online forms service in one binary.
package main

import "formulary/internal/cli"

func main() { cli.Main() }
