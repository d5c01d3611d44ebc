package faux

import "time"

// Habits lists what correct tools may do differently. Each tool writes JSON in its own style as well.
func Habits() []Habit {
	return []Habit{
		{ID: "style"},
		{ID: "own-ids-from-1000", From: 1000},
		{ID: "own-ids-are-names", Names: true, Both: true},
		{ID: "late", Late: 20 * time.Millisecond},
		{ID: "chatty", Chatter: 2},
		{ID: "beside", Beside: true},
		{ID: "pieces", Pieces: true},
		{ID: "slow", Slow: 15 * time.Millisecond},
	}
}
