package clienttools_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

func TestTheFileToolStaysBelowItsRoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	testfile.Write(t, filepath.Join(outside, "secret"), "secret")
	testfile.Write(t, filepath.Join(dir, "sub/inside"), "inside")
	testfile.Write(t, filepath.Join(dir, "large"), strings.Repeat("x", maxFile+1))
	for link, target := range map[string]string{"link": outside + "/secret", "folder": outside, "again": "link", "good": "sub/inside", "sub/up": "../../" + filepath.Base(outside)} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	tool := fileTool(root)
	read := func(path string) (*clienttools.Result, error) {
		return tool.Handle(t.Context(), &clienttools.Call{Input: []byte(`{"path":"` + path + `"}`)})
	}
	for _, path := range []string{"sub/inside", "good", "sub/../good"} {
		if result, err := read(path); err != nil || result.Output != "inside" {
			t.Errorf("%s: %+v, %v", path, result, err)
		}
	}
	for _, path := range []string{"link", "again", "folder/secret", "sub/up/secret", outside + "/secret", "../" + filepath.Base(outside) + "/secret", "", ".", "pipe", "large", "no such"} {
		if result, err := read(path); err == nil {
			t.Errorf("%q: %q, want an error", path, result.Output)
		}
	}
}

func TestTheQueryToolOnlyReadsItsDatabase(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a #.db"), filepath.Join(dir, "other.db")
	must(t, writeOrders(file))
	must(t, writeOrders(other))
	before := testfile.Text(t, file)
	db, err := openReadOnly(file)
	must(t, err)
	defer db.Close()
	conn, err := onlyThis(t.Context(), db)
	must(t, err)
	defer conn.Close()
	tool := queryTool(conn)
	query := func(sql string) (*clienttools.Result, error) {
		return tool.Handle(t.Context(), &clienttools.Call{Input: []byte(`{"sql":"` + sql + `"}`)})
	}
	for sql, want := range map[string]int{
		"SELECT * FROM orders":                     2,
		"SELECT tea FROM orders WHERE grams > 1e6": 0,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n": maxRows,
	} {
		result, err := query(sql)
		if err != nil || result.Metadata["rowCount"] != want || result.Metadata["complete"] != (want < maxRows) {
			t.Errorf("%s: %v, %v, want %d rows", sql, result, err, want)
		}
	}
	for _, sql := range []string{
		"INSERT INTO orders VALUES ('x', 1)", "DROP TABLE orders", "SELECT 1; DELETE FROM orders", "PRAGMA query_only = 0; DELETE FROM orders",
		"ATTACH '" + other + "' AS o", "SELECT 1; ATTACH 'file:" + other + "?mode=rwc' AS o", "VACUUM INTO '" + dir + "/copy.db'", "nonsense",
	} {
		if result, err := query(sql); err == nil {
			t.Errorf("%s: %+v, want an error", sql, result)
		}
	}
	if testfile.Text(t, file) != before {
		t.Error("the database has changed")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("files %v, want the two databases", files)
	}
}
