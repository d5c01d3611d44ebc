package llm

import (
	"net/http"
	"net/url"
	"strings"
)

// given are the values of a provider's keys, by name. A missing one has its default.
type given map[string]string

func always(path string) func(given) string { return func(given) string { return path } }

// below returns the path that a key has.
func below(key string) func(given) string {
	return func(k given) string { return "/" + strings.TrimLeft(k[key], "/") }
}

// azurePath returns the path and the query of a deployment (decision M73).
func azurePath(k given) string {
	return "/openai/deployments/" + encoded(k["AZURE_OPENAI_DEPLOYMENT_NAME"]) + "/chat/completions?api-version=" + encoded(k["AZURE_OPENAI_API_VERSION"])
}

// encoded percent-encodes all but the unreserved characters of RFC 3986.
func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// ollamaBase adds what the address of Ollama may leave out (decision M5).
func ollamaBase(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	if parsed, err := url.Parse(host); err == nil && parsed.Scheme == "http" && parsed.Host != "" && parsed.Port() == "" {
		parsed.Host = strings.TrimSuffix(parsed.Host, ":") + ":11434"
		return parsed.String()
	}
	return host
}

func openAIHeader(k given) http.Header {
	h := bearer(k["OPENAI_API_KEY"])
	setUnlessEmpty(h, "OpenAI-Organization", k["OPENAI_ORGANIZATION"])
	setUnlessEmpty(h, "OpenAI-Project", k["OPENAI_PROJECT"])
	setListed(h, k["OPENAI_CUSTOM_HEADERS"], ",", "=")
	return h
}

// liteHeader returns the header fields for a LiteLLM proxy (decision M74).
func liteHeader(k given) http.Header {
	h := bearer(k["LITELLM_API_KEY"])
	if len(h) == 0 {
		h.Set("X-No-Auth", "true")
	}
	setListed(h, k["LITELLM_CUSTOM_HEADERS"], "\n", ":")
	return h
}

// gooseHeader returns the header fields for routers that ask who calls.
func gooseHeader(key string) http.Header {
	h := bearer(key)
	h.Set("HTTP-Referer", "https://block.github.io/goose")
	h.Set("X-Title", "goose")
	return h
}

func anthropicHeader(key string) http.Header {
	h := http.Header{}
	setUnlessEmpty(h, "X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
	return h
}

func bearer(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// setListed sets the header fields of a list. It ignores entries without a name or without the sign behind it (decisions
// M6, M74).
func setListed(h http.Header, list, separator, sign string) {
	for part := range strings.SplitSeq(list, separator) {
		name, value, ok := strings.Cut(part, sign)
		if name = strings.TrimSpace(name); ok && name != "" {
			h.Set(name, strings.TrimSpace(value))
		}
	}
}

// join returns the URL of a path below an address, which comes from a setting.
func join(base, path string) (string, error) {
	if _, err := baseURL(base); err != nil {
		return "", err
	}
	return strings.TrimRight(base, "/") + path, nil
}

func baseURL(base string) (*url.URL, error) {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" {
		return nil, reason("Invalid base URL: " + base)
	}
	return parsed, nil
}

// chatURL returns the URL of a definition: an address, with the usual path if it has none (GA 18.8, decision M48).
func chatURL(base string) (string, error) {
	parsed, err := baseURL(base)
	if err != nil {
		return "", err
	}
	if parsed.Path == "" || parsed.Path == "/" {
		parsed.Path = "/v1/chat/completions"
	}
	parsed.RawQuery, parsed.Fragment = "", ""
	return parsed.String(), nil
}
