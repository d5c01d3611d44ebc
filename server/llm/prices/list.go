package prices

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// A list has the prices of one moment. It is not changed. A nil list has none.
type list struct {
	fetchedAt int64             // in seconds since 1970
	prices    []api.PricingData // sorted by the bytes of provider, then by those of model
	response  func() jsonwire.Text
}

// none is the response without prices.
var none = responseWith(nil)

func responseWith(prices []api.PricingData) jsonwire.Text {
	return jsonwire.Marshal(api.PricingResponse{Pricing: prices, Source: api.PricingResponseSourceOpenrouter})
}

// byModel are prices by provider, then by model.
type byModel map[string]map[string]api.PricingData

// newList returns a list with the prices, without those that are negative.
func newList(fetchedAt int64, all byModel) *list {
	l := &list{fetchedAt: fetchedAt}
	for provider, models := range all {
		for model, price := range models {
			if math.Signbit(price.InputTokenCost) || math.Signbit(price.OutputTokenCost) {
				continue
			}
			price.Provider, price.Model, price.Currency = provider, model, api.PricingDataCurrencyDollarSign
			l.prices = append(l.prices, price)
		}
	}
	slices.SortFunc(l.prices, func(a, b api.PricingData) int { return compare(a, b.Provider, b.Model) })
	l.response = sync.OnceValue(func() jsonwire.Text { return responseWith(l.prices) })
	return l
}

func compare(price api.PricingData, provider, model string) int {
	return cmp.Or(cmp.Compare(price.Provider, provider), cmp.Compare(price.Model, model))
}

// olderThan reports whether the list is at least as old as age, or from the future, or nil.
func (l *list) olderThan(age time.Duration) bool {
	now := time.Now().Unix()
	return l == nil || l.fetchedAt > now || l.fetchedAt <= now-int64(age/time.Second)
}

// all returns the response with all prices. All requests share its bytes, because a list may have 16 MiB, and the response
// more.
func (l *list) all() jsonwire.Text {
	if l == nil {
		return none
	}
	return l.response()
}

// find returns the price of a provider's model, with their names as they are given (decision G71).
func (l *list) find(provider, model string) (price api.PricingData, ok bool) {
	listed, name := lettercase.Lower(provider), model
	if provider == "openrouter" {
		if listed, name, ok = split(model); !ok {
			return price, false
		}
	}
	if l == nil {
		return price, false
	}
	i, ok := slices.BinarySearchFunc(l.prices, name, func(p api.PricingData, name string) int { return compare(p, listed, name) })
	if !ok {
		return price, false
	}
	price = l.prices[i]
	price.Provider, price.Model = provider, model
	return price, true
}

// renamed are the providers that have another name in goose (decision G68).
var renamed = map[string]string{"meta-llama": "ollama", "mistralai": "mistral", "microsoft": "azure"}

// split returns the provider and the model of an ID of OpenRouter, and false if it has none.
func split(id string) (provider, model string, ok bool) {
	provider, model, ok = strings.Cut(id, "/")
	return lettercase.Lower(cmp.Or(renamed[provider], provider)), model, ok
}

var errNoList = errors.New("the response is not an object with the array data")

// parseResponse returns the list of a response, which is fetched now. Items without a price are left out (decision G68).
func parseResponse(response jsonwire.Text) (*list, error) {
	data := response.Get("data")
	if data.Kind() != "array" {
		return nil, errNoList
	}
	all := byModel{}
	for _, item := range data.Elements() {
		members := item.Pick("id", "pricing", "context_length")
		costs := members[1].Pick("prompt", "completion")
		provider, model, named := split(members[0].Str())
		input, isInput := cost(costs[0])
		output, isOutput := cost(costs[1])
		if !named || !isInput || !isOutput {
			continue
		}
		if all[provider] == nil {
			all[provider] = map[string]api.PricingData{}
		}
		all[provider][model] = api.PricingData{InputTokenCost: input, OutputTokenCost: output, ContextLength: contextLength(members[2])}
	}
	return newList(time.Now().Unix(), all), nil
}

var decimal = regexp.MustCompile(`^\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// cost returns the cost that a string has, and false for anything else.
func cost(value jsonwire.Text) (float64, bool) {
	text := value.Str()
	if !decimal.MatchString(text) {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// contextLength returns an integer (decision G2) that can be a context length, or nil.
func contextLength(value jsonwire.Text) *int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || n > math.MaxUint32 {
		return nil
	}
	return &n
}
