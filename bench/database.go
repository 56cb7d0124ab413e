package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresURL is the environment variable with the URL of the PostgreSQL server.
const postgresURL = "FORMULARY_TEST_POSTGRES"

// location is where a run stores its data, which is deleted afterwards.
type location struct {
	data string // directory
	url  string // empty: SQLite in the directory
	log  string // file
	smtp string // URL; empty: no email is sent
}

// newLocation creates an empty location for an engine. The function that it returns
// deletes what is outside the folder.
func newLocation(ctx context.Context, engine, folder string) (location, func(), error) {
	location := location{data: filepath.Join(folder, engine), log: filepath.Join(folder, engine+".log")}
	if engine == "sqlite" {
		return location, func() {}, nil
	}
	server := os.Getenv(postgresURL)
	u, err := url.Parse(server)
	if server == "" || err != nil {
		return location, nil, errNoPostgres
	}
	schema := "bench_" + strings.ToLower(rand.Text()[:16])
	if err := execute(ctx, server, "CREATE SCHEMA "+schema); err != nil {
		return location, nil, fmt.Errorf("create schema: %w", err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	location.url = u.String()
	return location, func() {
		// Also after Ctrl-C, when ctx is canceled.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if err := execute(ctx, server, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			fmt.Fprintln(os.Stderr, "bench: drop schema:", err)
		}
	}, nil
}

var errNoPostgres = errors.New(postgresURL + ` does not name a PostgreSQL server: run "make bench", which starts one, or give -engine=sqlite`)

func execute(ctx context.Context, server, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// backends returns the process IDs of the PostgreSQL server on this machine, except
// that of its own connection.
func backends(ctx context.Context, server string) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}
