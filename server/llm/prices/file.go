package prices

import (
	"errors"
	"math"
	"strconv"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// maxBytes is the maximum size of the file, and that of the names of all prices (decision G69).
const maxBytes = 16 << 20

var errNames = errors.New("the names of all prices are too large")

// readFile returns the list in the file, however old it is. It returns nil if there is none, or if it cannot be read, which
// is logged once.
func (p *Prices) readFile() *list {
	if p.path == "" {
		return nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	_, l, err := p.files.Read(p.path)
	if err == nil || files.IsMissing(err) {
		p.unusable = ""
		return l
	}
	if p.unusable != err.Error() {
		p.unusable = err.Error()
		p.log.Warn("prices not read", "err", err)
	}
	return nil
}

// writeFile replaces the file. A failure is only logged.
func (p *Prices) writeFile(l *list) {
	if p.path == "" {
		return
	}
	text, err := l.file(), files.ErrTooLarge
	if len(text) <= maxBytes {
		err = files.ReplacePrivate(files.Target(p.path), text)
	}
	if err != nil {
		p.log.Warn("prices not written", "path", p.path, "err", err)
	}
}

// file returns the text of the file with a list (decision G69).
func (l *list) file() []byte {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("pricing").Open('{')
	for i, price := range l.prices {
		first := i == 0 || l.prices[i-1].Provider != price.Provider
		if first && i > 0 {
			w.Close('}')
		}
		if first {
			w.Key(price.Provider).Open('{')
		}
		w.Key(price.Model).Open('{')
		w.Name("input_cost").Raw(digits(price.InputTokenCost))
		w.Name("output_cost").Raw(digits(price.OutputTokenCost))
		w.Name("context_length").IntOrNull(price.ContextLength)
		w.Close('}')
	}
	if len(l.prices) > 0 {
		w.Close('}')
	}
	w.Close('}')
	w.Name("fetched_at").Int(l.fetchedAt)
	w.Close('}')
	return append(w.Text(), '\n')
}

// digits returns the fewest digits that read back as the same number.
func digits(f float64) []byte { return strconv.AppendFloat(nil, f, 'g', -1, 64) }

// parseFile returns the list of a file's text. Of a repeated provider or model, the last one counts.
func parseFile(text []byte) (*list, error) {
	return decode.Text(text, func(v decode.Value) (*list, error) {
		o := v.Object("pricing", "fetched_at")
		all := decode.Field(o, "pricing", decode.MapOf(decode.MapOf(parsePrice)))
		fetchedAt := o.Int("fetched_at")
		if o.Err() == nil && namesOf(all) > maxBytes {
			return nil, errNames
		}
		return newList(fetchedAt, all), o.Err()
	})
}

// namesOf returns the size of the names of all models, each with that of its provider: a short file can have a long one for
// many models.
func namesOf(all byModel) (size int) {
	for provider, models := range all {
		size += len(provider) * len(models)
		for model := range models {
			size += len(model)
		}
	}
	return size
}

func parsePrice(v decode.Value) (api.PricingData, error) {
	o := v.Object("input_cost", "output_cost", "context_length")
	return api.PricingData{
		InputTokenCost:  decode.Field(o, "input_cost", double),
		OutputTokenCost: decode.Field(o, "output_cost", double),
		ContextLength:   decode.MaybeField(o, "context_length", decode.Within(0, math.MaxUint32)),
	}, o.Err()
}

func double(v decode.Value) (float64, error) {
	number, err := v.Number()
	if err != nil {
		return 0, err
	}
	return number.Float64()
}
