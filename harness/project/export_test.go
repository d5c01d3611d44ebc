package project

import (
	"strings"
)

// Choose returns the names and the addresses of the targets that would run, the reference first.
func (p *Project) Choose(wishes []string, reference string) (chosen []string, alone bool, err error) {
	targets, alone, err := p.ChooseTargets(wishes, reference)
	for _, t := range targets {
		chosen = append(chosen, strings.TrimSpace(t.Spec.Name+" "+t.Spec.URL))
	}
	return chosen, alone, err
}
