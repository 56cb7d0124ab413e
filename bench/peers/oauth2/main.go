// Command oauth2 is an authorization server built with go-oauth2, with its tokens in
// memory, for the benchmark. It issues tokens at /token, checks them at /check, and
// exits when its standard input is closed:
//
//	oauth2 ADDRESS
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "oauth2:", err)
		os.Exit(1)
	}
}

func serve(args []string) error {
	if len(args) != 1 {
		return errors.New("which ADDRESS?")
	}
	clients := store.NewClientStore()
	if err := clients.Set("bench", &models.Client{ID: "bench", Secret: "secret", Domain: "https://app.example.com"}); err != nil {
		return err
	}
	manager := manage.NewDefaultManager()
	manager.MapClientStorage(clients)
	manager.MustTokenStorage(store.NewMemoryTokenStore())
	s := server.NewDefaultServer(manager)
	s.SetClientInfoHandler(server.ClientFormHandler)

	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := s.HandleTokenRequest(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("GET /check", func(w http.ResponseWriter, r *http.Request) {
		token, err := s.ValidationBearerToken(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"active": true, "client_id": token.GetClientID(), "scope": token.GetScope(),
			"exp": token.GetAccessCreateAt().Add(token.GetAccessExpiresIn()).Unix(),
		})
	})
	go func() {
		io.Copy(io.Discard, os.Stdin) // returns when the benchmark exits
		os.Exit(0)
	}()
	listener := http.Server{Addr: args[0], ReadHeaderTimeout: 5 * time.Second}
	return listener.ListenAndServe()
}
