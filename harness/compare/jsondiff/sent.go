package jsondiff

import "github.com/lockstep-dev/lockstep/harness/compare/ident"

// BindSent binds what a client has sent on both sides: the contents of two requests, or two messages. byRule is whether
// a rule allows ids of any form, as for the binder.
func (c *Comparer) BindSent(s ident.SentBinder, byRule bool, ref, cand []byte) {
	if len(ref) == 0 || s.Text(string(ref), string(cand)) && !byRule {
		return
	}
	root, _, err := c.Docs.Parse(ref)
	other, _, oerr := c.Docs.Parse(cand)
	if err == nil && oerr == nil {
		s.Document(root, other)
	}
}
