// Command list lists the titles of an account's forms with a client that
// oapi-codegen generates from the OpenAPI document.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"clients/formulary"
)

func main() {
	if err := list(os.Getenv("CLIENTS_BASE"), os.Getenv("CLIENTS_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func list(base, token string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client, err := formulary.NewClientWithResponses(base, formulary.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		return err
	}
	perPage := int64(50)
	answer, err := client.ListFormsWithResponse(ctx, &formulary.ListFormsParams{PerPage: &perPage})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return errors.New(answer.Status() + " " + string(answer.Body))
	}
	for _, form := range answer.JSON200.Data {
		fmt.Println(form.Title)
	}
	return nil
}
