package clienttools_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

const maxRows = 1000

type query struct {
	SQL string `json:"sql" jsonschema:"a query in SQLite's dialect"`
}

// openReadOnly opens a database such that no statement changes it.
func openReadOnly(file string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: "mode=ro"}
	return sql.Open("sqlite", dsn.String())
}

// onlyThis returns a connection that cannot attach other databases.
func onlyThis(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// queryTool answers queries. The connection must be read-only.
func queryTool(db *sql.Conn) clienttools.ClientTool {
	return clienttools.Tool("query", "Runs a query on the database of orders", func(ctx context.Context, in query) (clienttools.Result, error) {
		rows, err := db.QueryContext(ctx, in.SQL)
		if err != nil {
			return clienttools.Result{}, err
		}
		defer rows.Close()
		table, err := readRows(rows)
		if err != nil {
			return clienttools.Result{}, err
		}
		output, err := json.Marshal(table)
		if err != nil {
			return clienttools.Result{}, err
		}
		return clienttools.Result{
			Title:    fmt.Sprintf("%d rows", len(table)),
			Output:   string(output),
			Metadata: map[string]any{"rowCount": len(table), "complete": len(table) < maxRows},
		}, nil
	})
}

func readRows(rows *sql.Rows) ([]map[string]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	table := []map[string]any{} // not null
	for rows.Next() && len(table) < maxRows {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, name := range columns {
			row[name] = values[i]
		}
		table = append(table, row)
	}
	return table, rows.Err()
}

// SQL on a read-only connection to SQLite.
func ExampleTool_sqlite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "orders.db")
	if err := writeOrders(file); err != nil {
		fmt.Println(err)
		return
	}

	db, err := openReadOnly(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	conn, err := onlyThis(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	agent := startAgent() // elsewhere: the URL of a running server
	defer agent.Close()
	client, err := clienttools.New(agent.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	if err := client.Register(ctx, queryTool(conn)); err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.call("query", `{"sql":"SELECT tea, grams FROM orders WHERE grams > 50"}`))
	fmt.Println(agent.call("query", `{"sql":"DELETE FROM orders"}`))
	// Output:
	// {"status":"success","title":"1 rows","output":"[{\"grams\":100,\"tea\":\"green\"}]","metadata":{"complete":true,"rowCount":1}}
	// {"status":"error","error":"attempt to write a readonly database (8)"}
}

func writeOrders(file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE orders (tea TEXT, grams INTEGER); INSERT INTO orders VALUES ('green', 100), ('black', 50)`)
	return err
}
