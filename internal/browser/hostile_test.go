package browser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// hostile are texts that would run or hide something if a page contained them unescaped.
var hostile = map[string]string{
	"script":         `<script>window.pwned = 1; alert(1)</script>`,
	"end of data":    `</script><script>window.pwned = 1; alert(1)</script>`,
	"comment":        `<!--<script>`,
	"handler":        `"><img src=x onerror="window.pwned = 1; alert(1)"><svg onload="window.pwned = 1">`,
	"attribute":      `' onmouseover='window.pwned = 1' autofocus onfocus='window.pwned = 1`,
	"address":        `javascript:window.pwned = 1`,
	"outside":        `<link rel=stylesheet href="http://192.0.2.1/x.css"><iframe src="http://192.0.2.1/"></iframe><meta http-equiv=refresh content="0;url=http://192.0.2.1/">`,
	"style":          `</style><style>body { background: url(http://192.0.2.1/x) }</style>`,
	"template":       "${window.pwned = 1} {{constructor.constructor('window.pwned = 1')()}} <%= 7*7 %> `",
	"controls":       "\x00\x07\x1b[31m\x7f\u0085\u2028\u2029\ufeff",
	"bytes":          "\xff\xfe\xc3",
	"overrides":      "abc\u202egnp.exe\u2066\u2069\u200f",
	"prototype":      `{"__proto__": {"pwned": 1}}`,
	"ten megabytes":  strings.Repeat("<b>x</b>", 10<<20/8),
	"shell":          `'; touch /tmp/pwned; '$(touch /tmp/pwned)`,
	"closing a page": "</body></html>",
}

// fill sets every text of a value, except those that lockstep itself writes.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.String:
		switch v.Interface().(type) {
		case verdict.Verdict, verdict.Class, verdict.Blame:
		default:
			v.SetString(text)
		}
	}
}

func TestNothingThatAServerSendsIsExecuted(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			doc := red()
			doc.Scenarios = append([]verdict.Scenario{doc.Scenarios[0]}, doc.Scenarios[300:]...)
			doc.Scenarios[1].Reasons = []verdict.Reason{{Text: "it died", Log: []string{"last words"}}}
			doc.Scenarios[1].Verdict = verdict.Unknown
			doc.Waivers = []verdict.WaiverUse{{ID: "W-1", Reason: "why"}}
			ev := doc.Evidence["items/many-0"]
			fill(reflect.ValueOf(doc), text)
			fill(reflect.ValueOf(ev), text)
			doc.Scenarios[0].ID = "0" + text // the evidence is stored by this id
			doc.Evidence = map[string]*report.Evidence{doc.Scenarios[0].ID: ev}
			doc.Changes = report.ChangesSince(red(), text, doc)
			b := open(t, doc)
			b.script(`for (const open of document.querySelectorAll("#scenarios button.plain")) document.getElementById(open.id).click()`)
			for cause := range eval[int](b, causes) {
				b.script(fmt.Sprintf(`document.querySelectorAll("#causes .cause")[%d].click(); for (const d of document.querySelectorAll("details")) d.open = true`, cause))
				b.until(`document.querySelector("#detail .body") !== null`)
			}
			b.expect("something has run", `typeof window.pwned`, "undefined")
			b.expect("scripts", `document.scripts.length`, 2)
			b.expect("elements that fetch, frame or lead away", `document.querySelectorAll("img, iframe, link, object, embed, a:not([href^='#']), form, base, svg [onload], [onerror], [onfocus], [style*=url]").length`, 0)
			b.expect("styles", `document.styleSheets.length`, 1)
			b.expect("characters that hide", `JSON.stringify(document.getElementById("page").textContent.match(/.{0,30}[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/))`, "null")
			b.harmless()
		})
	}
}
