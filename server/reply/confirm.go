package reply

// Confirm answers the question whether a tool may run (GA 8.1). Anything but allow_once and always_allow denies. An answer
// to a question that nobody has asked yet is kept for it; an unknown session gets an agent.
func (s *Service) Confirm(sessionID, id, action string) {
	s.Agent(sessionID).confirmations.Answer(id, decision(action))
}
