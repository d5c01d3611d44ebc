package scenario

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// head is the beginning of a scenario without mistakes. Steps follow.
const head = "scenario: a/b\nwhy: It works\nsource: x 1\n"

// parse parses a scenario that must not have a mistake.
func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	all, problems := Parse("f", "a/b", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return all[0]
}

func TestAllMistakesHaveTheirPlacesAndFixes(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string // "line:column: what → fix"; with head, lines count from the steps on
	}{
		{"a missing key", "scenario: a/b\nsource: x\nsteps: [{http: GET /}]", []string{`1:1: the file has no "why" → add it: why, one sentence that says what the scenario proves`}},
		{"no steps", head + "steps: []", []string{`4:8: "steps" is too short → fill it in`}},
		{"another id", strings.Replace(head, "a/b", "a/c", 1) + "steps: [{http: GET /}]", []string{`1:11: the scenario is called "a/c" → call it "a/b" like its file, or move the file`}},
		{"a misspelt step", head + "steps: [{htpp: GET /}]", []string{`4:9: item 1 of "steps" is not allowed here → did you mean "http" where you wrote "htpp"?`}},
		{"no step at all", head + "steps: [{say: hi}]", []string{`4:9: item 1 of "steps" is not allowed here → begin the step with one of: http, do, open, send, start, join, await, never, poll, close, half-close, drop, signal, stop, kill, restart, asked, parallel, use`}},
		{"a misspelt key of a step", head + "steps: [{http: GET /, expct: {status: 200}}]", []string{`4:23: unknown key "expct" → did you mean "expect"?`}},
		{"a request without a path", head + "steps: [{http: GET}]", []string{`4:16: "http" is "GET" → write a method, a blank and a path`}},
		{"a stream without a path", head + "steps: [{open: s, sse: POST}]", []string{`4:24: "sse" is "POST" → write a method, a blank and a path`}},
		{"a stream that is asked for with two bodies", head + "steps: [{open: s, sse: POST /, json: {}, raw: {text: a}}]", []string{`4:42: a step has both json and raw → send one body: remove json or raw`}},
		{"a poll that is posted", head + "steps: [{poll: POST /, until: {status: 200}}]", []string{`4:16: "poll" is "POST /" → write GET, a blank and a path`}},
		{"a time without a unit", head + "steps: [{http: GET /, within: 5}]", []string{`4:31: "within" is a number → write a time with its unit, such as 300ms, 2s or 1m`}},
		{"no time", head + "steps: [{http: GET /, within: 0s}]", []string{`4:31: "0s" is not a duration above 0 → write a number with a unit, such as 300ms, 2s or 1m`}},
		{"a status in quotes", head + `steps: [{http: GET /, expect: {status: "200"}}]`, []string{`4:40: "status" is a string → make it a whole number`}},
		{"a status that is no text of digits", head + "steps: [{http: GET /, expect: {status: 2e2}}]", []string{`4:40: 2e2 is not written as a whole number → write it in digits`}},
		{"an expectation of nothing", head + "steps: [{http: GET /, expect: {}}]", []string{`4:31: "expect" is too short → fill it in, or leave it out`}},
		{"two bodies", head + "steps: [{http: POST /, json: {}, raw: {text: x}}]", []string{`4:34: a step has both json and raw → send one body: remove json or raw`}},
		{"a raw body without bytes", head + "steps: [{http: POST /, raw: {type: x}}]", []string{`4:29: "raw" is not allowed here → give the body as text, or as base64`}},
		{"no base64", head + "steps: [{http: POST /, raw: {base64: '*'}}]", []string{`4:38: base64: illegal base64 data at input byte 0 → write standard base64 with its padding`}},
		{"no JSONPath", head + "steps: [{http: GET /, capture: {x: '$.['}}]", []string{`4:36: "$.[" is not a valid JSONPath: jsonpath: unexpected '[' at position 3 → write a path of RFC 9535, such as $.tools[0].id`}},
		{"no path at all", head + "steps: [{http: GET /, capture: {x: id}}]", []string{`4:36: "x" is not allowed here → write a JSONPath such as $.id, or {header: Name}`}},
		{"no regular expression", head + "steps: [{http: GET /, expect: {matches: {$.a: '('}}}]", []string{"4:47: \"(\" is not a valid regular expression: error parsing regexp: missing closing ): `(` → write one in RE2 syntax"}},
		{"an unknown name", head + "vars: {client: c}\nsteps: [{http: \"GET /${{ cleint }}\"}]", []string{`5:16: ${{ cleint }} is not defined here → did you mean "client"?`}},
		{"a name before it is captured", head + "steps: [{http: \"GET /${{ id }}\", capture: {id: $.id}}]", []string{`4:16: ${{ id }} is not defined here → use one of: directory, lockstep, unique`}},
		{"a capture by the name of the token", head + "steps: [{http: GET /, capture: {unique: $.id}}]", []string{`4:33: capture unique: this name is reserved for the value that lockstep generates for each target → choose another name`}},
		{"a variable by the name of the token", head + "vars: {unique: 1}\nsteps: [{http: GET /}]", []string{`4:8: vars unique: this name is reserved for the value that lockstep generates for each target → choose another name`}},
		{"a column that names another", head + "table: [{name: a, n: \"${{ row.name }}\", m: \"${{ lon }}\"}]\nrepeat: {long: {text: a, times: 2}}\nsteps: [{http: GET /}]", []string{
			`4:22: ${{ row.name }} is not defined here → use one of: directory, lockstep, long, unique`, `4:44: ${{ lon }} is not defined here → did you mean "long"?`}},
		{"a variable before it is defined", head + "vars: {a: \"${{ b }}\", b: 1}\nsteps: [{http: GET /}]", []string{`4:11: ${{ b }} is not defined here → use one of: directory, lockstep, unique`}},
		{"a capture of another branch", head + "steps: [{parallel: {l: [{http: GET /, capture: {x1: $.a}}], r: [{http: \"GET /${{ x1 }}\"}]}}]", []string{`4:72: ${{ x1 }} is not defined here → use one of: directory, lockstep, unique`}},
		{"no name", head + "steps: [{http: \"GET /${{ a b }}\"}]", []string{`4:16: expression ${{ a b }} is not a name → ` + templateFix}},
		{"an expression without an end", head + "steps: [{http: \"GET /${{ a\"}]", []string{`4:16: expression "${{ a" has no }} → ` + templateFix}},
		{"no such stream", head + "steps: [{open: bus, sse: GET /}, {await: bsu, match: {event: x}}]", []string{`4:42: await bsu: no such stream → did you mean "bus"?`}},
		{"no stream at all", head + "steps: [{never: bus, within: 1s}]", []string{`4:17: never bus: no such stream → open or start it in an earlier step`}},
		{"a name taken", head + "steps: [{open: a, sse: GET /}, {start: a, http: GET /}, {close: a}]", []string{`4:40: start a: the name is already used → give it another name`}},
		{"a call that nobody joins", head + "steps: [{start: a, http: GET /}]", []string{`4:17: start a: no step joins or closes it → add a step that joins or closes it`}},
		{"a reset of a request", head + "steps: [{start: a, http: GET /}, {drop: a}, {join: a}]", []string{`4:41: drop a: no such stream → open or start it in an earlier step`}},
		{"an await of a stream that was closed", head + "steps:\n  - {open: a, sse: GET /}\n  - close: a\n  - {await: a, match: {event: x}}\n  - {never: a, within: 1s}\n", []string{
			`7:13: await a: close a in line 6 already ended it → move this step before that one, or leave it out`,
			`8:13: never a: close a in line 6 already ended it → move this step before that one, or leave it out`,
		}},
		{"a stream of two branches", head + "steps:\n  - parallel:\n      l: [{open: a, sse: GET /}, {close: a}]\n      r: [{parallel: {x: [{start: a, http: GET /}, {join: a}], y: [{http: GET /}]}}]\n", []string{
			`7:35: a: another branch opens or starts one with the same name at the same time, in line 6 → give it another name`,
			`7:59: a: another branch ends it at the same time, in line 6 → do it in one branch only, or after the parallel step`}},
		{"a call that two branches join", head + "steps:\n  - {start: a, http: GET /}\n  - parallel:\n      l: [{join: a}]\n      r: [{join: a}]\n", []string{
			`8:18: a: another branch ends it at the same time, in line 7 → do it in one branch only, or after the parallel step`}},
		{"a capture of two branches", head + "steps:\n  - parallel:\n      l: [{http: GET /, capture: {x1: $.a}}]\n      r: [{http: GET /, capture: {x1: $.b}}]\n", []string{
			`7:35: capture x1: another branch captures it at the same time, in line 6 → give it another name`}},
		{"a capture that another branch reads", head + "vars: {x1: a}\nsteps:\n  - parallel:\n      l: [{http: 'GET /${{ x1 }}'}]\n      m: [{http: GET /, capture: {x1: $.b}}]\n      r: [{http: 'GET /${{ x1 }}'}]\n", []string{
			`8:35: capture x1: another branch uses it at the same time, in line 7 → give it another name`,
			"9:18: ${{ x1 }}: another branch captures it at the same time, in line 8 → give the captured value another name"}},
		{"names one parallel after the other", head + "steps:\n  - parallel: {l: [{http: GET /, capture: {x1: $.a}}], r: [{http: GET /}]}\n  - parallel: {l: [{http: GET /, capture: {x1: $.a}}], r: [{http: GET /}]}\n", nil},
		{"an end after a reset", head + "steps:\n  - {open: a, sse: GET /}\n  - {parallel: {l: [{drop: a}], r: [{http: GET /}]}}\n  - half-close: a\n  - close: a\n", []string{
			`7:17: half-close a: drop a in line 6 already ended it → move this step before that one, or leave it out`,
			`8:12: close a: drop a in line 6 already ended it → move this step before that one, or leave it out`,
		}},
		{"an answer that was read", head + "steps:\n  - {start: a, http: GET /}\n  - join: a\n  - join: a\n", []string{
			`7:11: join a: join a in line 6 already ended it → move this step before that one, or leave it out`,
		}},
		{"an await of nothing", head + "steps: [{open: a, sse: GET /}, {await: a}]", []string{`4:32: item 2 of "steps" is not allowed here → say what to wait for: match, or end`}},
		{"a stop of shared targets", head + "steps: [{stop: target}]", []string{`4:10: stop needs targets of its own, but this scenario shares them → add isolate: fresh to the scenario`}},
		{"a kill and a restart of shared targets, in a branch", head + "steps: [{parallel: {l: [{kill: target}], r: [{restart: target}]}}]", []string{
			`4:26: kill needs targets of its own, but this scenario shares them → add isolate: fresh to the scenario`,
			`4:47: restart needs targets of its own, but this scenario shares them → add isolate: fresh to the scenario`,
		}},
		{"an environment and files of shared targets", head + "env: {MODE: a}\nfiles: {a: {text: b}}\nsteps: [{http: GET /}]", []string{
			`4:1: env needs targets of its own, but this scenario shares them → add isolate: fresh to the scenario`,
			`5:1: files needs targets of its own, but this scenario shares them → add isolate: fresh to the scenario`,
		}},
		{"an environment with what is not known at the start", head + "isolate: fresh\nvars: {a: b}\nenv: {MODE: \"${{ a }}\", ID: \"${{ unique }}\"}\nsteps: [{http: GET /}]", []string{
			`6:13: ${{ a }} is not defined here → use one of: directory, host, lockstep, port`,
			`6:29: ${{ unique }} is not defined here → use one of: directory, host, lockstep, port`,
		}},
		{"an environment from a column that is not known at the start", head + "isolate: fresh\ntable: [{name: a, mode: \"${{ unique }}\"}]\nenv: {MODE: \"${{ row.mode }}\"}\nsteps: [{http: GET /}]", []string{
			`6:13: row.mode has no value → use no expressions in the column except repeated texts, because targets start with its value`,
		}},
		{"a stop of something else", head + "isolate: fresh\nsteps: [{stop: server}]", []string{`5:16: "stop" is "server" → make it target`}},
		{"a size, and nothing to fill", head + "steps: [{http: POST /, size: 9, json: {a: 1}}]", []string{`4:30: the body has ${{ fill }} 0 times, but must have it once → put ${{ fill }} once into json, or into the text of raw: it fills the body up to the size`}},
		{"two fillers", head + "steps: [{http: POST /, size: 9, raw: {text: \"${{ fill }}${{ fill }}\"}}]", []string{`4:30: the body has ${{ fill }} 2 times, but must have it once → put ${{ fill }} once into json, or into the text of raw: it fills the body up to the size`}},
		{"a filler without a size", head + "steps: [{http: POST /, json: \"${{ fill }}\"}]", []string{`4:30: ${{ fill }} is not defined here → use one of: directory, lockstep, unique`}},
		{"a size beyond all sizes", head + "steps: [{http: POST /, json: \"${{ fill }}\", size: 1073741825}]", []string{`4:51: the size 1073741825 is out of range → write a number of bytes in digits, at most 1073741824`}},
		{"a poll for nothing", head + "steps: [{poll: GET /}]", []string{`4:9: item 1 of "steps" has no "until" → add it: until, the expected response`}},
		{"a shrinking pause", head + "steps: [{poll: GET /, every: 2s..1s, until: {status: 200}}]", []string{`4:30: every is 2s..1s → write a range that grows, such as 20ms..200ms`}},
		{"one branch", head + "steps: [{parallel: {a: [{http: GET /}]}}]", []string{`4:20: "parallel" is too short → put at least 2 in it`}},
		{"rows of one name", head + "table: [{name: a}, {name: a}]\nsteps: [{http: GET /}]", []string{`4:27: two rows are called "a" → give each row its own name`}},
		{"a row without a column", head + "table: [{name: a, x: 1}, {name: b}]\nsteps: [{http: GET /}]", []string{`4:26: row "b" has no column "x" → give every row the same columns`}},
		{"a row with a new column", head + "table: [{name: a, x: 1}, {name: b, x: 1, y: 1}]\nsteps: [{http: GET /}]", []string{`4:42: column "y" is not in the first row → did you mean "x"?`}},
		{"a rule without a reason", head + "compare: {volatile: [{at: $.x, kind: id}]}\nsteps: [{http: GET /}]", []string{`4:22: item 1 of "volatile" has no "because" → add it: because, why the rule is right`}},
		{"an option of another kind", head + "compare: {volatile: [{at: $.x, kind: id, unit: ms, because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: a volatile value of kind id has no option "unit" → leave it out, or use another kind: time, duration and number have options`}},
		{"a bound of a time", head + "compare: {volatile: [{at: $.x, kind: time, max: 5s, because: b}]}\nsteps: [{http: GET /}]", []string{`4:44: a volatile value of kind time has no option "max" → leave it out, or use one of: unit, near, ahead, monotone, stable, of, digits`}},
		{"a token with a tolerance", head + "steps: [{http: GET /, compare: {volatile: [{at: $.x, kind: token, tolerance: 1, because: b}]}}]", []string{`4:67: a volatile value of kind token has no option "tolerance" → leave it out, or use another kind: time, duration and number have options`}},
		{"a duration without a unit and without a bound", head + "compare: {volatile: [{at: $.x, kind: duration, because: b}]}\nsteps: [{http: GET /}]", []string{`4:22: a volatile duration has no unit → add unit: ms, or one of: s, us, ns`, `4:22: a volatile duration has no bound → add max: 5s, or tolerance: 20%`}},
		{"a duration in RFC 3339", head + "compare: {volatile: [{at: $.x, kind: duration, unit: rfc3339, max: 1s, because: b}]}\nsteps: [{http: GET /}]", []string{`4:54: rfc3339 is not a unit for a duration → use one of: s, ms, us, ns`}},
		{"a tolerance without a unit", head + "compare: {volatile: [{at: $.x, kind: duration, unit: ms, tolerance: 5, because: b}]}\nsteps: [{http: GET /}]", []string{`4:69: "5" is not a valid tolerance for a duration → write a time with a unit, or a percentage, such as 200ms or 20%`}},
		{"a number without a tolerance", head + "compare: {volatile: [{at: $.x, kind: number, because: b}]}\nsteps: [{http: GET /}]", []string{`4:22: a volatile number has no tolerance → add tolerance: 0.5, or tolerance: 5%`}},
		{"pieces of texts", head + "compare: {streams: {s: {collapse: [{event: a, text: $, because: b}, {event: a, by: ['$.['], text: $.x, because: b}]}}}\nsteps: [{http: GET /}]", []string{
			`4:53: text is $, the root of every event → name a member, such as $.delta`,
			`4:77: collapse has two rules for a → keep one`,
			`4:85: "$.[" is not a valid JSONPath: jsonpath: unexpected '[' at position 3 → write a path of RFC 9535, such as $.tools[0].id`,
		}},
		{"times that are stable in odd ways", head + "compare: {volatile: [{at: $.a, kind: time, stable: false, because: b}, {at: $.a, kind: time, of: $.id, because: b}, {at: $.a, kind: time, stable: 7, unit: s, digits: 3, because: b}, {at: $.a, kind: time, digits: some, because: b}]}\nsteps: [{http: GET /}]", []string{
			`4:52: stable: false is the default → leave it out, or write true or the id of a step`,
			`4:98: of has no effect, because the time is not stable → add stable: true, or leave it out`,
			`4:147: stable since step 7, but the scenario has no such step → write true, or the id of a step; did you mean "1"?`,
			`4:167: digits only apply to RFC 3339 times, but the unit is s → leave it out`,
			`4:213: "some" is not a number of fractional digits → write a number from 0 to 9, or any`,
		}},
		{"a cadence that begins and has no interval", head + "compare: {streams: {s: {heartbeat: {event: ping, first: 0s}}}}\nsteps: [{http: GET /}]", []string{`4:57: first needs every: it says when the first heartbeat comes → add every: 500ms, or leave out first`}},
		{"a first beat at no time", head + "compare: {streams: {s: {heartbeat: {event: ping, every: 1s, first: soon}}}}\nsteps: [{http: GET /}]", []string{`4:68: "first" is "soon" → write a time with its unit, such as 300ms, 2s or 1m`}},
		{"a gap of any length", head + "compare: {streams: {s: {gap: {}}}}\nsteps: [{http: GET /}]", []string{`4:30: "gap" is not allowed here → say how long: max, tolerance, or both`}},
		{"a tolerance of nothing", head + "compare: {volatile: [{at: $.x, kind: number, tolerance: 0%, because: b}]}\nsteps: [{http: GET /}]", []string{`4:57: "0%" is not a valid tolerance for a number → write a number above 0 or a percentage, such as 0.5 or 5%`}},
		{"a tolerance in time of a number", head + "compare: {volatile: [{at: $.x, kind: number, tolerance: 5ms, because: b}]}\nsteps: [{http: GET /}]", []string{`4:57: "5ms" is not a valid tolerance for a number → write a number above 0 or a percentage, such as 0.5 or 5%`}},
		{"a time that may go back", head + "compare: {volatile: [{at: $.x, kind: time, monotone: false, because: b}]}\nsteps: [{http: GET /}]", []string{`4:54: "monotone" is false → make it true`}},
		{"an unknown unit", head + "compare: {volatile: [{at: $.x, kind: time, unit: min, because: b}]}\nsteps: [{http: GET /}]", []string{`4:50: "unit" is "min" → did you mean "ms"?`}},
		{"nearness without a unit", head + "compare: {volatile: [{at: $.x, kind: time, near: 5, because: b}]}\nsteps: [{http: GET /}]", []string{`4:50: "near" is a number → write a time with its unit, such as 300ms, 2s or 1m`}},
		{"a shape that is no expression", head + "compare: {ids: [{name: session, pattern: 'sess(', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: "sess(" is not a valid regular expression: error parsing regexp: missing closing ): ` + "`sess(`" + ` → write one in RE2 syntax`}},
		{"a shape of nothing", head + "compare: {ids: [{name: session, pattern: '[a-z]*', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: the pattern "[a-z]*" matches ordinary texts, such as "" → write how such an id begins and how long it is: sess[0-9]{8}`}},
		{"a shape of everything", head + "compare: {ids: [{name: session, pattern: .*, because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: the pattern ".*" matches ordinary texts, such as "" → write how such an id begins and how long it is: sess[0-9]{8}`}},
		{"a shape of short numbers", head + "compare: {ids: [{name: order, pattern: '[1-9][0-9]{3}', because: b}]}\nsteps: [{http: GET /}]", []string{`4:40: the pattern "[1-9][0-9]{3}" matches short numbers, such as "1000", which also occur in times and counts → write what comes before such an id: /items/([0-9]{4}), or write a rule with kind: id for its place under volatile`}},
		{"a shape of all numbers", head + "compare: {ids: [{name: session, pattern: '[0-9]+', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: the pattern "[0-9]+" matches ordinary texts, such as "65536" → write how such an id begins and how long it is: sess[0-9]{8}`}},
		{"a shape with an anchor", head + "compare: {ids: [{name: session, pattern: '^sess[0-9]{8}', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: "^sess[0-9]{8}" has an anchor, but a pattern always matches whole words, anywhere → leave out ^, $, \b and the like`}},
		{"a shape with an anchor in a group", head + "compare: {ids: [{name: session, pattern: '(?:sess|x\\b)[0-9]{8}', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: "(?:sess|x\\b)[0-9]{8}" has an anchor, but a pattern always matches whole words, anywhere → leave out ^, $, \b and the like`}},
		{"a shape with two groups", head + "compare: {ids: [{name: session, pattern: '(sess)([0-9]{8})', because: b}]}\nsteps: [{http: GET /}]", []string{`4:42: "(sess)([0-9]{8})" has 2 groups, but only one can be the generated part → begin the others with (?:`}},
		{"a shape without a name", head + "compare: {ids: [{pattern: x1, because: b}]}\nsteps: [{http: GET /}]", []string{`4:17: item 1 of "ids" has no "name" → add it: name, the name of these ids. Ids are bound only to ids of the same name`}},
		{"a shape with a name in capitals", head + "compare: {ids: [{name: SESSION, pattern: x1, because: b}]}\nsteps: [{http: GET /}]", []string{`4:24: "name" is "SESSION" → write a word of small letters, such as session`}},
		{"a shape in a step", head + "steps: [{http: GET /, compare: {ids: [{name: a, pattern: x1, because: b}]}}]", []string{`4:33: unknown key "ids" → use one of: headers, lists, numbers, volatile`}},
		{"an unknown way to compare numbers", head + "compare: {numbers: value}\nsteps: [{http: GET /}]", []string{`4:20: "numbers" is not allowed here → write notation, double or exact, or a list of places: [{at: $.price, as: double, because: …}]`}},
		{"a way to compare numbers, without a reason", head + "compare: {numbers: [{at: $.x, as: double}]}\nsteps: [{http: GET /}]", []string{`4:21: item 1 of "numbers" has no "because" → add it: because, why the rule is right`}},
		{"numbers of an unknown kind", head + "steps: [{http: GET /, compare: {numbers: [{at: $.x, as: value, because: b}]}}]", []string{`4:57: "as" is "value" → use one of: double, exact, notation`}},
		{"a rule for the root", head + "compare: {volatile: [{at: $, kind: text, because: b}]}\nsteps: [{http: GET /}]", []string{`4:27: at is $, the root of every document → name a member, such as $.id`}},
		{"a list rule that says nothing", head + "compare: {lists: [{at: $.x, because: b}]}\nsteps: [{http: GET /}]", []string{`4:19: item 1 of "lists" is not allowed here → say how elements are paired: order: none, or key: $.id`}},
		{"a list in another order", head + "compare: {lists: [{at: $.x, order: some, because: b}]}\nsteps: [{http: GET /}]", []string{`4:36: "order" is "some" → make it none`}},
		{"a list rule without a reason", head + "steps: [{http: GET /, compare: {lists: [{at: $.x, key: $.id}]}}]", []string{`4:41: item 1 of "lists" has no "because" → add it: because, why the rule is right`}},
		{"a key that is the element", head + "compare: {lists: [{at: $, key: $, because: b}]}\nsteps: [{http: GET /}]", []string{`4:32: key is $, the whole element → name a member, such as $.id, or write order: none`}},
		{"a key that is no path", head + "compare: {lists: [{at: $.x, key: id, because: b}]}\nsteps: [{http: GET /}]", []string{`4:34: "key" is "id" → begin the path with $`}},
		{"two rules for a list", head + "compare: {lists: [{at: $.x, order: none, because: b}, {at: $.x, key: $.id, because: b}]}\nsteps: [{http: GET /}]", []string{`4:60: lists has two rules for $.x: the other is in line 4 → keep one`}},
		{"a tag in capitals", head + "tags: [SSE]\nsteps: [{http: GET /}]", []string{`4:8: item 1 of "tags" is "SSE" → use lower-case words joined by hyphens`}},
		{"a teardown that waits", head + "steps: [{http: GET /}]\nteardown: [{await: x, match: {event: y}}]", []string{`5:12: item 1 of "teardown" has no "http" → add it: http, the method and the path as they are sent: POST /client-tools/register. Values of expressions in the path are percent-encoded; the rest is sent unchanged`, `5:13: unknown key "await" → use one of: allow_status, headers, http, json, malformed, query, within`, `5:23: unknown key "match" → use one of: allow_status, headers, http, json, malformed, query, within`}},
		{
			"several, of the schema and of names", head + "tgs: [a]\nsteps:\n  - http: GET /${{ x }}\n    epxect: {status: 200}\n",
			[]string{`4:1: unknown key "tgs" → did you mean "tags"?`, `6:11: ${{ x }} is not defined here → use one of: directory, lockstep, unique`, `7:5: unknown key "epxect" → did you mean "expect"?`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, problems := Parse("f", "a/b", []byte(tc.text))
			var got []string
			for _, p := range problems {
				got = append(got, strings.ReplaceAll(strings.TrimPrefix(p.Error(), "f:"), "\n\tfix: ", " → "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryStepIsRead(t *testing.T) {
	s := parse(t, head+`
isolate: fresh
limit: 20s
tags: [a, b]
steps:
  - http: POST /x/${{ unique }}?q=1
    query: {a: 1, b: [x, y]}
    headers: {X-A: "1", X-B: [a, b]}
    json: {n: 1.0, l: [null, true]}
    malformed: true
    within: 1s
    expect: {status: 200, headers: {A: x, B: null}}
    capture: {id: $.id, etag: {header: ETag}}
    compare: {headers: [X]}
  - {start: call, http: POST /, raw: {text: "{", type: text/plain, chunked: true}}
  - {join: call, within: 2s}
  - {open: bus, sse: GET /event, ready: {event: hello, within: 1s}, only: [{event: x}, {data: y}]}
  - {await: bus, match: {event: x, json: {a: 1}}, times: 3}
  - {await: bus, end: server}
  - {never: bus, within: 300ms}
  - {poll: GET /x, every: 10ms..1s, until: {status: 200}, compare: none}
  - {half-close: bus}
  - {close: bus}
  - {parallel: {l: [{http: GET /}], r: [{http: GET /}, {http: GET /}]}}
  - {stop: target, exit: 3}
  - {restart: target, within: 3s}
  - {kill: target}
  - {open: said, sse: POST /say, json: {text: hi}}
teardown:
  - {http: DELETE /x, allow_status: [404]}
`)
	var got []string
	s.Walk(func(st *Step) { got = append(got, st.ID+" "+st.Kind()+": "+st.Text) })
	want := []string{
		"1 http: POST /x/${{ unique }}?q=1", "2 start: start call: POST /", "3 join: join call", "4 open: open bus: GET /event",
		"5 await: await bus", "6 await: await bus", "7 never: never bus", "8 poll: poll GET /x", "9 half-close: half-close bus",
		"10 close: close bus", "11 parallel: parallel l, r", "11.l.1 http: GET /", "11.r.1 http: GET /", "11.r.2 http: GET /",
		"12 stop: stop target", "13 restart: restart target", "14 kill: kill target", "15 open: open said: POST /say", "teardown.1 http: DELETE /x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if !s.Fresh || s.Limit != 20*time.Second || len(s.Tags) != 2 {
		t.Errorf("scenario %+v", s)
	}
	h := s.Script().Steps[0].Do.(*HTTP)
	if len(h.Request.Query) != 3 || len(h.Request.Header) != 3 || h.Within != time.Second || len(h.Capture) != 2 || h.Expect.Header[1].Value != nil {
		t.Errorf("step 1: %+v", h)
	}
	if a := s.Script().Steps[4].Do.(*Await); a.Times != 3 || a.End || !s.Script().Steps[5].Do.(*Await).End {
		t.Errorf("step 5: %+v", a)
	}
	if p := s.Script().Steps[7].Do.(*Poll); p.Pause != 10*time.Millisecond || p.MaxPause != time.Second || p.Compare != PollNone {
		t.Errorf("step 8: %+v", p)
	}
	if r := s.Script().Steps[14].Do.(*Open).Request; r.Method != "POST" || !r.Body.JSON.IsSet() {
		t.Errorf("step 15: %+v", r)
	}
	if td := s.Script().Teardown[0].Do.(*HTTP); td.AllowStatus[0] != 404 {
		t.Errorf("teardown: %+v", td)
	}
}

func TestATableMakesAScenarioOfEachRow(t *testing.T) {
	all, problems := Parse("f", "a/b", []byte(head+"table:\n  - {name: one, n: 1}\n  - {name: two, n: [x]}\nsteps: [{http: GET /}]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(all) != 2 || all[0].ID != "a/b[one]" || all[1].ID != "a/b[two]" || all[1].Base() != "a/b" || all[1].Line != 6 {
		t.Errorf("scenarios %+v", all)
	}
	if n, err := all[1].Row["n"].Resolve(nil); err != nil || string(n) != `["x"]` {
		t.Errorf("column n: %s %v", n, err)
	}
}

// A repeated text is known before anything runs. Rows, variables, and what targets start with may use it.
func TestRepeatedTextsAreKnownEverywhere(t *testing.T) {
	text := head + `isolate: fresh
repeat: {long: {text: ab, times: 3}, directory: {text: x, times: 2}}
table: [{name: one, n: "<${{ long }}>", m: ["${{ long }}", "${{ unique }}"]}]
vars: {twice: "${{ long }}${{ row.n }}"}
env: {LONG: "${{ long }}", IN: "${{ directory }}/${{ row.n }}"}
files: {a.txt: {text: "${{ row.n }} ${{ port }}"}}
steps: [{http: GET /}]
`
	all, problems := Parse("f", "a/b", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	known := constants{"unique": []byte(`"u"`)}
	for _, v := range all[0].Definitions() {
		known.add(v.Name, v.Value)
	}
	for name, want := range map[string]string{
		"long": `"ababab"`, "row.n": `"<ababab>"`, "row.m": `["ababab","u"]`, "twice": `"ababab<ababab>"`, "directory": `"xx"`,
	} {
		if got := string(known[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	setup := all[0].Setup
	for i, want := range []string{"ababab", "${{ directory }}/<ababab>"} { // the target's directory
		if got := setup.Env[i].Text; got != want {
			t.Errorf("%s is %q, want %q", setup.Env[i].Name, got, want)
		}
	}
	if got, want := setup.Files[0].Text, "<ababab> ${{ port }}"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}

type env map[string]string

func (e env) Lookup(name string) (json.RawMessage, bool) {
	v, ok := e[name]
	return json.RawMessage(v), ok
}

func TestValuesAreResolved(t *testing.T) {
	e := env{"s": `"a\"b/ü"`, "n": `1.50`, "l": `[1,{"x":null}]`, "row.c": `true`}
	for _, tc := range []struct{ yaml, want string }{
		{`"${{ s }}"`, `"a\"b/ü"`},
		{`"${{ n }}"`, `1.50`},
		{`"${{l}}"`, `[1,{"x":null}]`},
		{`"${{ row.c }}"`, `true`},
		{`"<${{ s }}${{ n }}>"`, `"<a\"b/ü1.50>"`},
		{`"x${{ l }}"`, `"x[1,{\"x\":null}]"`},
		{`"$${{ s }}"`, `"${{ s }}"`},
		{`{b: 1, a: [1.0, 1e400, -0, null, false], "k${{ n }}": "<&>\u2028"}`, `{"b":1,"a":[1.0,1e400,-0,null,false],"k1.50":"<&>` + "\u2028" + `"}`},
		{`{}`, `{}`}, {`[]`, `[]`}, {`""`, `""`}, {`"\x00\n"`, `"\u0000\n"`},
	} {
		s := parse(t, head+"vars: {s: 1, n: 1, l: 1}\ntable: [{name: r, c: 1}]\nsteps: [{http: POST /, json: "+tc.yaml+"}]")
		got, err := s.Script().Steps[0].Request().Body.JSON.Resolve(e)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s %v, want %s", tc.yaml, got, err, tc.want)
		}
	}
}

func TestAMissingValueIsAnError(t *testing.T) {
	s := parse(t, head+"vars: {s: 1}\nsteps: [{http: \"POST /${{ s }}\", json: {a: [\"x${{ s }}\"]}}]")
	if _, err := s.Script().Steps[0].Request().Body.JSON.Resolve(env{}); err == nil || err.Error() != "s has no value" {
		t.Errorf("Resolve: %v", err)
	}
	if _, err := s.Script().Steps[0].Request().Path.Text(env{}, nil); err == nil {
		t.Error("Text: no error")
	}
}

func TestOnlyValuesAreEscaped(t *testing.T) {
	s := parse(t, head+"vars: {s: 1}\nsteps: [{http: \"GET /%ZZ/${{ s }}/x\"}]")
	got, err := s.Script().Steps[0].Request().Path.Text(env{"s": `"a/b"`}, func(s string) string { return strings.ReplaceAll(s, "/", "%2F") })
	if err != nil || got != "/%ZZ/a%2Fb/x" {
		t.Errorf("path %s %v", got, err)
	}
}

func TestAMapOfPathsIsDistinguishedFromADocument(t *testing.T) {
	for text, paths := range map[string]int{`{$.a: 1, "$['b']": 2}`: 2, `{$.a: 1, b: 2}`: 0, `{}`: 0, `{"${{ unique }}": 1}`: 0, `[1]`: 0} {
		s := parse(t, head+"steps: [{http: GET /, expect: {json: "+text+"}}]")
		j := s.Script().Steps[0].Do.(*HTTP).Expect.JSON
		if len(j.At) != paths || j.Whole.IsSet() != (paths == 0) {
			t.Errorf("%s: %d paths, whole %t", text, len(j.At), j.Whole.IsSet())
		}
	}
}

func TestLoadReadsAFolderAndReportsAllOfIt(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	write("x/one.yaml", strings.Replace(head, "a/b", "x/one", 1)+"steps: [{http: GET /}]")
	write("two.yaml", strings.Replace(head, "a/b", "two", 1)+"steps: [{http: GET /}]")
	write("readme.md", "not a scenario")
	all, err := load(dir)
	if err != nil || len(all) != 2 || all[0].ID != "two" || all[1].ID != "x/one" {
		t.Errorf("Load: %v %v", all, err)
	}
	write("x/create.yml", "not even looked at")
	write("loud.YAML", "")
	_, err = load(dir)
	want := filepath.Join(dir, "loud.YAML") + ": a file that ends in .YAML is not read as a scenario\n\tfix: rename it to loud.yaml\n" +
		filepath.Join(dir, "x", "create.yml") + ": a file that ends in .yml is not read as a scenario\n\tfix: rename it to create.yaml"
	if err == nil || err.Error() != want {
		t.Errorf("Load: %v\nwant: %s", err, want)
	}
	for _, name := range []string{"x/create.yml", "loud.YAML"} {
		testfile.Remove(t, filepath.Join(dir, name))
	}
	write("bad.yaml", "scenario: bad\n")
	write("x/worse.yaml", "[")
	_, err = load(dir)
	problems, ok := err.(Problems)
	if !ok || len(problems) != 4 || problems[0].File != filepath.Join(dir, "bad.yaml") || problems[3].File != filepath.Join(dir, "x/worse.yaml") {
		t.Errorf("Load: %v", err)
	}
	if _, err := load(filepath.Join(dir, "none")); err == nil {
		t.Error("Load of a folder that is not there: no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "steps: [{http: GET /}]"))
	f.Add([]byte(head + "vars: {a: '${{ unique }}'}\ntable: [{name: x}]\nsteps:\n  - {open: a, sse: GET /, only: [{json: {$.a: 1}}]}\n  - {parallel: {a: [{never: a, within: 1s}], b: [{close: a}]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, problems := Parse("f", "a/b", data)
		if len(all) == 0 && len(problems) == 0 {
			t.Fatal("neither scenarios nor problems")
		}
	})
}

// load returns the scenarios of a folder.
func load(root string) (out []*Scenario, err error) {
	err = Each(root, func(rows []*Scenario) { out = append(out, rows...) })
	return out, err
}
