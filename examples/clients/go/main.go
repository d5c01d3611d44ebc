// Command clients is a driver for the OpenAI library for Go. It does what node/driver.mjs does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type values map[string]any

var client = openai.NewClient(option.WithBaseURL(os.Getenv("API")+"/v1"), option.WithAPIKey("sk-test"), option.WithRequestTimeout(5*time.Second))

// do does what a scenario asks for. With an error, it returns what came before.
func do(action string, request openai.ChatCompletionNewParams) (got values, err error) {
	if action == "complete" {
		r, err := client.Chat.Completions.New(context.Background(), request)
		if err != nil {
			return nil, err
		}
		return values{"text": r.Choices[0].Message.Content, "finish": r.Choices[0].FinishReason, "tokens": r.Usage.TotalTokens}, nil
	}
	text, finish := "", ""
	stream := client.Chat.Completions.NewStreaming(context.Background(), request)
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text, finish = text+choice.Delta.Content, finish+choice.FinishReason
		}
	}
	return values{"text": text, "finish": finish}, stream.Err()
}

// describe describes an error in the same words as the other driver.
func describe(err error, got values) values {
	println(err.Error()) // to standard error
	if status, is := errors.AsType[*openai.Error](err); is {
		return values{"kind": "status", "status": status.StatusCode, "code": status.Code, "got": got}
	} else if errors.Is(err, context.DeadlineExceeded) {
		return values{"kind": "timeout", "got": got}
	} else if _, is := errors.AsType[net.Error](err); is || errors.Is(err, io.ErrUnexpectedEOF) {
		return values{"kind": "connection", "got": got}
	}
	return values{"kind": "unusable", "got": got}
}

func main() {
	var c struct {
		ID   int
		Do   string
		With openai.ChatCompletionNewParams
	}
	out := json.NewEncoder(os.Stdout)
	for in := json.NewDecoder(os.Stdin); in.Decode(&c) == nil; c.With = (openai.ChatCompletionNewParams{}) {
		if got, err := do(c.Do, c.With); err == nil {
			out.Encode(values{"id": c.ID, "ok": got})
		} else {
			out.Encode(values{"id": c.ID, "error": describe(err, got)})
		}
	}
}
