package contract

// Loose lists the schemas of answers and events that admit any value: nobody can break them, and no difference below them
// has a side that is wrong.
func (d *Document) Loose() Problems {
	var out Problems
	seen := map[string]bool{}
	found := map[*schema]In{}
	for _, op := range d.ops {
		for _, root := range op.roots(InAnswers) {
			for _, s := range reach(root.schema, InAnswers, found, nil) {
				if s.admitsAnything() && !seen[s.ref] {
					seen[s.ref] = true
					out = append(out, d.src.problem(s.ref, SchemaName(s.ref)+" admits any value", "give it a type"))
				}
			}
		}
	}
	return in(d.opts.File, out)
}

// admitsAnything reports whether a schema has no keyword that a value could break.
func (s *schema) admitsAnything() bool {
	return s.wants == anyKind && s.enum == nil && len(s.parts) == 1 && s.oneOf == nil && s.anyOf == nil && s.not == nil && s.tag == nil &&
		s.pattern == nil && s.format == nil && s.numberFormat == nil && s.minLength == 0 && s.maxLength < 0 && s.min == nil && s.max == nil &&
		s.multipleOf == nil && s.items == nil && s.minItems == 0 && s.maxItems < 0 && !s.unique && len(s.properties) == 0 &&
		len(s.required) == 0 && s.extra == extraSilent && s.minFields == 0 && s.maxFields < 0
}
