package diff

import "strings"

// A Code says what differs. Its text is the sentence that reports print, with fmt verbs for the arguments of the
// Reason.
type Code string

// Codes for values, texts and numbers.
const (
	ValuesDiffer         Code = "the values differ"
	TextsDiffer          Code = "the texts differ"
	TypesDiffer          Code = "the types differ: %s and %s"
	NumbersDiffer        Code = "the numbers differ"
	OnlyReferenceInteger Code = "the numbers are written differently: the reference's as an integer, the candidate's with a fraction or an exponent"
	OnlyCandidateInteger Code = "the numbers are written differently: the candidate's as an integer, the reference's with a fraction or an exponent"
	NumberNotation       Code = "the numbers are written differently, and a rule compares them exactly"
	NoNumber             Code = "a rule requires a number, but %s's value is not one that can be measured"
	NumbersApart         Code = "the numbers are further apart than a rule allows: %s"
	NoDuration           Code = "a rule requires a duration in %[2]s, but %[1]s's value is not one"
	DurationLong         Code = "%s's duration is longer than the %s that a rule allows"
	DurationsApart       Code = "the durations are further apart than a rule allows: %s"
)

// Codes for times. Those that are about notations begin with timesWritten: see IsTimeNotation.
const (
	timesWritten           = "the times are written differently"
	TimeNotation      Code = timesWritten
	TimeUnits         Code = timesWritten + ": the candidate sends %s, the reference %s"
	TimeFractions     Code = timesWritten + ": %s's never have fractions of a second, %s's always do"
	FractionDigits    Code = "the seconds have %d fractional digits in %s's time, but a rule requires %d"
	TimesDiffer       Code = "the times differ: %s"
	TimeNotNear       Code = "a time is too far from the moment it was seen: %s"
	TimeAhead         Code = "a time is too far ahead of the moment it was seen: %s"
	TimeBack          Code = "a time goes backwards: %s"
	TimeChanges       Code = "a time changes, although a rule says that it is stable: %s"
	NoTime            Code = "a rule requires a time, but %s's value is not one"
	NoTimeInUnit      Code = "a rule requires a time in %[2]s, but %[1]s's value is not one"
	CandidateOutdated Code = "the reference's is from this scenario, but the candidate's is %s it was seen"
	TimesReversed     Code = "the times of one object are in a different order: %s is %s %s in the reference's, but %s in the candidate's"
	ListReversed      Code = "the times %s %s in the reference's list, but %s in the candidate's"
)

// Codes for ids and tokens. The first two take a value, its partner, the place where the two were bound, and a last
// argument that only code reads.
const (
	RefHadOtherPartner  Code = "the reference's %[1]q was paired with the candidate's %[2]q at %[3]s"
	CandHadOtherPartner Code = "the candidate's %[1]q was paired with the reference's %[2]q at %[3]s"
	IDsConfused         Code = "the candidate has %s where the reference has %s%s"
	IDPrefixes          Code = "the ids have different prefixes: %q and %q"
	IDCases             Code = "the ids are written differently: %s and %s"
	IDLengths           Code = "the ids have different lengths: %d characters after %q, and %d"
	IDAlphabets         Code = "the ids use different characters: %s, and %s"
	IDNil               Code = "%s's id is nil: it is all zeros"
	IDEmpty             Code = "%s's id is empty"
	TokenLengths        Code = "the tokens have different lengths: %d characters, and %d"
	TokenPrefixes       Code = "the tokens have different prefixes: %q and %q"
	TokenParts          Code = "the tokens have different numbers of parts between dots: %d and %d"
	TokenSigns          Code = "the tokens use different characters: %s's has %s, %s's does not"
	TokenAlphabets      Code = "the tokens use different characters: %s, and %s"
)

// Codes for the contents of texts.
const (
	NoJSON           Code = "a rule requires JSON, but %s's text is not valid JSON: %s"
	JSONNotation     Code = "the texts hold the same JSON, but written differently"
	Base64Notation   Code = "the texts have the same content, but are encoded differently"
	SignatureLengths Code = "the signatures are of different lengths"
	SignatureInvalid Code = "%s's signature %s"
)

// Codes for objects and lists.
const (
	CandidateLacksField   Code = "the candidate lacks the field"
	ReferenceLacksField   Code = "the reference has no such field"
	CandidateLacksElement Code = "the candidate's list lacks the element"
	ReferenceLacksElement Code = "the reference's list has no such element"
	ElementsReordered     Code = "the elements are the same, but in a different order"
	EntriesReordered      Code = "the entries of the archives are the same, but in a different order"
)

// Codes for responses and requests.
const (
	CountsOfAnswers      Code = "the numbers of responses differ"
	CountsOfRequests     Code = "the numbers of requests differ"
	StatusesDiffer       Code = "the statuses differ"
	InterimDiffer        Code = "the interim responses differ"
	MethodsDiffer        Code = "the methods differ"
	OneAnswersOneBreaks  Code = "one responds, the other drops the connection"
	OneAnswers           Code = "one responds, the other does not"
	OneBreaks            Code = "one drops the connection, the other does not"
	OneHangsUp           Code = "one drops the connection to its upstream, the other does not"
	ExitsDiffer          Code = "the processes ended differently"
	CandidateLacksHeader Code = "the candidate lacks the header field"
	ReferenceLacksHeader Code = "the reference has no such header field"
	HeaderCounts         Code = "the field occurs a different number of times"
	OneIsStream          Code = "one response is %s, the other is not"
	BodiesOfOtherOutcome Code = "the bodies differ, because only one of the statuses means success"
	LastLineFeed         Code = "only one side ends the last line with a line feed"
	NotJSON              Code = "%s's is not valid JSON: %s"
	JSONDefect           Code = "%s's JSON has a defect, and %s's has not: %s" // its words are part of fingerprints
	MoreDifferences      Code = "%d more differences are not listed"
)

// Codes for streams and events.
const (
	EndedByOthers       Code = "the streams were ended by different sides"
	CandidateLacksEvent Code = "the candidate does not send this: %s"
	ReferenceLacksEvent Code = "the reference does not send this: %s"
	SentOnceMore        Code = "the candidate sends %s once more"
	ElsewhereInOrder    Code = "%s comes at a different place in the sequence%s"
	EventNames          Code = "the %ss have different names"
	EventFields         Code = "the %s fields differ"
	MessageKinds        Code = "the %ss are of different kinds"
	EventNotation       Code = "the %ss are written differently"
	EventWithoutData    Code = "%s's event has no data, so clients ignore it"
	RetriesDiffer       Code = "the reconnection times differ"
	HeartbeatUnknown    Code = "a heartbeat is unlike all heartbeats of the reference"
	NoOpeningHeartbeat  Code = "%s's stream ends without its opening heartbeat"
	EventLate           Code = "%s comes later than the %s that a rule allows%s"
	EventsApart         Code = "the delays of the events differ by more than the %s that a rule allows%s"
)

// IsTimeNotation reports whether a sentence says that two times have different notations. Reports do not mark the
// characters in which such times differ, because nearly all differ.
func IsTimeNotation(sentence string) bool { return strings.HasPrefix(sentence, timesWritten) }
