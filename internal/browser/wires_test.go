package browser

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
)

// openPlace opens the cause whose place contains a text.
func (b *tab) openPlace(place string) {
	b.t.Helper()
	b.script(`const found = [...document.querySelectorAll("#causes .cause")].find((c) => c.querySelector(".place").textContent.includes("` + place + `")); if (found) found.click()`)
	b.until(`document.querySelector("#detail .body h3") !== null && document.querySelector("#detail .body h3").textContent.includes("` + place + `")`)
}

// rowsOf has a line for each row of the streams: its look, and the cells with their hidden words.
const rowsOf = `[...document.querySelectorAll("#detail table.events tbody tr, #detail table.events tfoot tr")].map((r) => r.className + ":" + [...r.cells].map((c) => c.textContent.replace(/(?: · )?[0-9.]+ ms/, "")).join("|")).join("\n")`

func TestASocketShowsBothDirectionsAndTheClosingHandshake(t *testing.T) {
	b := open(t, socket())
	b.openPlace("/topic")
	b.expect("rows", rowsOf, strings.Join([]string{
		`:→sent hello sent 1{"type":"hello","user":"ann"}||→sent hello sent 1{"type":"hello","user":"ann"}`,
		`differs:←received welcome message 1{"type":"welcome","topic":"news"}|≠|←received welcome message 1{"type":"welcome","topic":"News"}`,
		`:←received ping message 2hi|=|←received ping message 2hi`,
		`:→sent pong sent 2hi||→sent pong sent 2hi`,
		`:←received binary message 300 01 fa 50 4e 47|=|←received binary message 300 01 fa 50 4e 47`,
		`:→sent say sent 3{"type":"say","text":"good morning"}||→sent say sent 3{"type":"say","text":"good morning"}`,
		`missing:←received receipt message 4{"type":"receipt"}|−|—`,
		`differs:←received typing message 5{"type":"typing"}|≠|←received typing message 4 2 frames: text 12, end 5{"type":"typing"}`,
		`differs:←received close 1008 "not allowed" message 6|≠|←received close 1011 "not allowed" message 5`,
		`:→sent close 1008 sent 4||→sent close 1011 sent 4`,
		`:ended by the target||ended by the target`,
	}, "\n"))
	b.expect("the message, and what was sent before it", `document.querySelector("#detail .right .whole").textContent`, `→ sent 1: hello, the last that was sent before

{
  "type": "hello",
  "user": "ann"
}

← message 1: welcome

{
  "type": "welcome",
  "topic": "News"
}`)
	b.expect("marks of what was sent", `document.querySelectorAll("#detail svg path.way.sent").length`, 8)
	b.expect("marks of what came", `document.querySelectorAll("#detail svg path.way:not(.sent)").length`, 11)
	b.expect("a command for one request", `document.querySelector("#detail").textContent.includes("curl")`, false)
	b.openPlace("framing")
	b.expect("the fragments", detail+`.includes("text 12, end 5")`, true)
	b.openPlace("message 4 (receipt)")
	b.expect("what came instead", `document.querySelector("#detail .right .whole").textContent.split("\n\n").pop()`, `← message 5: close 1011 "not allowed", the last that came`)
	b.harmless()
}

func TestAProgramShowsTheRequestThatALineAnswers(t *testing.T) {
	b := open(t, program())
	b.expect("the head", `document.querySelector(".heading").textContent.includes("3 lines compared")`, true)
	b.openPlace("/error/message")
	b.expect("rows", rowsOf, strings.Join([]string{
		`:→sent line sent 1{"jsonrpc":"2.0","id":1,"method":"first"}||→sent line sent 1{"jsonrpc":"2.0","id":1,"method":"first"}`,
		`:→sent line sent 2{"jsonrpc":"2.0","id":2,"method":"second"}||→sent line sent 2{"jsonrpc":"2.0","id":2,"method":"second"}`,
		`:←received stderr error line 1warning: slow disk||←received stderr error line 1warning: slow disk`,
		`differs:←received line 1 {"jsonrpc":"2.0","id":1,"error":{"message":"Not found"}}|≠|←received line 1 {"jsonrpc":"2.0","id":1,"error":{"message":"not found"}}`,
		`:←received line 2 {"jsonrpc":"2.0","id":2,"result":{}}|=|←received line 2 {"jsonrpc":"2.0","id":2,"result":{}}`,
		`differs:←received exit 0 line 3|≠|←received ended by SIGSEGV line 3`,
		`:ended by the target||ended by the target`,
	}, "\n"))
	b.expect("its request", `document.querySelector("#detail .left .whole").textContent.startsWith("→ sent 1, which it answers\n\n{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"first\"\n}")`, true)
	b.expect("standard error is dim", `document.querySelectorAll("#detail table.events .dim").length`, 2)
	b.harmless()
}

// What a server sends on a socket is text in the page, whatever it is.
func TestNothingInAMessageIsExecuted(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			doc := socket()
			ev := doc.Evidence["wire"]
			fill(reflect.ValueOf(doc), text)
			fill(reflect.ValueOf(ev), text)
			doc.Scenarios[0].ID = text
			doc.Evidence = map[string]*report.Evidence{text: ev}
			b := open(t, doc)
			b.openCause(1)
			b.expect("rows", `document.querySelectorAll("#detail table.events tbody tr").length`, 10)
			b.expect("something has run", `typeof window.pwned`, "undefined")
			b.expect("scripts", `document.scripts.length`, 2)
			b.expect("elements that fetch, frame or lead away", `document.querySelectorAll("img, iframe, link, object, embed, a:not([href^='#']), form, base, svg [onload], [onerror], [onfocus], [style*=url]").length`, 0)
			b.expect("characters that hide", `JSON.stringify(document.getElementById("page").textContent.match(/.{0,30}[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/))`, "null")
			b.harmless()
		})
	}
}
