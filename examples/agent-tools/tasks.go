package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A list has the tasks. Tools run at the same time, so it has a lock.
type list struct {
	mu    sync.Mutex
	tasks []task
}

type task struct {
	title string
	done  bool
}

type newTask struct {
	Title string `json:"title" jsonschema:"description=what is to do"`
}

type oneTask struct {
	Number int `json:"number" jsonschema:"description=as list_tasks shows it,minimum=1"`
}

// server offers the list to the model.
func (l *list) server() (*agentsdk.McpSdkServerConfig, error) {
	return agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "tasks", Tools: []agentsdk.SdkTool{
		agentsdk.MustTool("add_task", "Adds a task to the list", l.add),
		agentsdk.MustTool("finish_task", "Marks a task as done", l.finish),
		agentsdk.MustTool("list_tasks", "Shows all tasks", l.show, agentsdk.ReadOnly()),
	}})
}

func (l *list) add(_ context.Context, in newTask, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks = append(l.tasks, task{title: in.Title})
	return agentsdk.TextResult(fmt.Sprintf("task %d", len(l.tasks))), nil
}

func (l *list) finish(_ context.Context, in oneTask, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.Number > len(l.tasks) {
		return agentsdk.ToolResult{}, fmt.Errorf("there is no task %d", in.Number) // the model sees this
	}
	l.tasks[in.Number-1].done = true
	return agentsdk.TextResult("done"), nil
}

func (l *list) show(context.Context, struct{}, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
	return agentsdk.TextResult(l.String()), nil
}

// String returns a line for each task.
func (l *list) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for i, t := range l.tasks {
		mark := " "
		if t.done {
			mark = "x"
		}
		lines = append(lines, fmt.Sprintf("%d [%s] %s", i+1, mark, t.title))
	}
	return strings.Join(lines, "\n")
}
