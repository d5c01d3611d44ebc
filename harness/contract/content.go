package contract

import (
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// judge checks the content of a message or an event against a schema.
func (c *check) judge(s *schema.Schema, how spec.Encoding, side Side, data []byte) []schema.Finding {
	switch {
	case how == spec.JSON:
		n, defects, err := c.docs.Parse(data)
		return c.doc.newJudge(side).Document(n, defects, err, s, c.stacks)
	case how == spec.PlainText && s != nil:
		return c.doc.newJudge(side).Judge(s.Read(string(data)), s)
	}
	return nil
}

// newJudge returns a judge for the values in messages of one side.
func (d *Document) newJudge(side Side) *schema.Judge {
	if side == Request {
		return schema.NewJudge(schema.ToServer, false, d.opts.MaxViolations)
	}
	return schema.NewJudge(schema.ToClient, !d.opts.AllowUndocumentedFields, d.opts.MaxViolations)
}
