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

// postgresURL is the variable that names the PostgreSQL server to measure on.
const postgresURL = "FORMULARY_TEST_POSTGRES"

// place is where one run has its data: all of it goes with the run.
type place struct {
	data string // folder
	url  string // empty: SQLite in the folder
	log  string // file
}

// newPlace makes an empty place for an engine; the function removes what is not
// in the folder.
func newPlace(ctx context.Context, engine, folder string) (place, func(), error) {
	at := place{data: filepath.Join(folder, engine), log: filepath.Join(folder, engine+".log")}
	if engine == "sqlite" {
		return at, func() {}, nil
	}
	server := os.Getenv(postgresURL)
	u, err := url.Parse(server)
	if server == "" || err != nil {
		return at, nil, errNoPostgres
	}
	schema := "bench_" + strings.ToLower(rand.Text()[:16])
	if err := execute(ctx, server, "CREATE SCHEMA "+schema); err != nil {
		return at, nil, fmt.Errorf("create schema: %w", err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	at.url = u.String()
	return at, func() {
		// Also after Ctrl-C, when ctx has ended.
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

// backends are the processes of a PostgreSQL server on this machine, but for the
// one that answers here.
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
