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
	NoNumber             Code = "%s's value is no number to measure, although a rule says so"
	NumbersApart         Code = "the numbers are further apart than a rule allows: %s"
	NoDuration           Code = "%s's value is no duration in %s, although a rule says so"
	DurationLong         Code = "%s's duration is longer than %s, the most that a rule allows"
	DurationsApart       Code = "the durations are further apart than a rule allows: %s"
)

// Codes for times. Those that are about notations begin with timesWritten: see IsTimeNotation.
const (
	timesWritten           = "the times are written differently"
	TimeNotation      Code = timesWritten
	TimeUnits         Code = timesWritten + ": %s, where the reference has %s"
	TimeFractions     Code = timesWritten + ": %s's never have a part of a second, %s's always"
	FractionDigits    Code = "the digits behind the second are %d in %s's time, and %d by a rule"
	TimesDiffer       Code = "the times differ: %s"
	TimeNotNear       Code = "a time is not near the moment it was seen: %s"
	TimeAhead         Code = "a time lies ahead of the moment it was seen: %s"
	TimeBack          Code = "a time goes back: %s"
	TimeChanges       Code = "a time changes that a rule calls stable: %s"
	NoTime            Code = "%s's value is no time, although a rule says so"
	NoTimeInUnit      Code = "%s's value is no time in %s, although a rule says so"
	CandidateOutdated Code = "the reference's is of this scenario, and the candidate's is %s it was seen"
	TimesReversed     Code = "the times of one thing are in another order: %s is %s %s in the reference's, and %s in the candidate's"
	ListReversed      Code = "the times %s %s in the reference's list, and %s in the candidate's"
)

// Codes for ids and tokens. The first two take a value, its partner, the place where the two were bound, and a last
// argument that only code reads.
const (
	RefHadOtherPartner  Code = "the reference's %[1]q stood beside the candidate's %[2]q at %[3]s"
	CandHadOtherPartner Code = "the candidate's %[1]q stood beside the reference's %[2]q at %[3]s"
	IDsConfused         Code = "the candidate has %s where the reference has %s%s"
	IDPrefixes          Code = "the ids are made differently: behind %q, and behind %q"
	IDCases             Code = "the ids are written differently: %s, and %s"
	IDLengths           Code = "the ids are made differently: %d characters behind %q, and %d"
	IDAlphabets         Code = "the ids are made differently: of %s, and of %s"
	IDNil               Code = "%s's id is nil: it is all zeros"
	IDEmpty             Code = "%s's id is empty"
	TokenLengths        Code = "the tokens are made differently: %d characters, and %d"
	TokenPrefixes       Code = "the tokens are made differently: behind %q, and behind %q"
	TokenParts          Code = "the tokens are made differently: of %d parts joined by points, and of %d"
	TokenSigns          Code = "the tokens are made differently: %s's has %s, %s's has not"
	TokenAlphabets      Code = "the tokens are made differently: of %s, and of %s"
)

// Codes for the contents of texts.
const (
	NoJSON           Code = "%s's text is no JSON, although a rule says so: %s"
	JSONNotation     Code = "the JSON in the texts is the same, but is written differently"
	Base64Notation   Code = "the texts hold the same, but are encoded differently"
	SignatureLengths Code = "the signatures are of different lengths"
	SignatureInvalid Code = "%s's signature %s"
)

// Codes for objects and lists.
const (
	CandidateLacksField   Code = "the candidate lacks the field"
	ReferenceLacksField   Code = "the reference has no such field"
	CandidateLacksElement Code = "the candidate's list lacks the element"
	ReferenceLacksElement Code = "the reference's list has no such element"
	ElementsReordered     Code = "the elements are the same, in another order"
	EntriesReordered      Code = "the entries of the archives are the same, in another order"
)

// Codes for responses and requests.
const (
	CountsOfAnswers      Code = "the numbers of answers differ"
	CountsOfRequests     Code = "the numbers of requests differ"
	StatusesDiffer       Code = "the statuses differ"
	InterimDiffer        Code = "the interim responses differ"
	MethodsDiffer        Code = "the methods differ"
	OneAnswersOneBreaks  Code = "one answers, the other lets go of its client"
	OneAnswers           Code = "one answers, the other does not"
	OneBreaks            Code = "one lets go of its client, the other does not"
	OneHangsUp           Code = "one lets go of its upstream, the other does not"
	ExitsDiffer          Code = "the processes ended otherwise"
	CandidateLacksHeader Code = "the candidate lacks the header field"
	ReferenceLacksHeader Code = "the reference has no such header field"
	HeaderCounts         Code = "the field stands a different number of times"
	OneIsStream          Code = "one answer is an event stream, the other is not"
	BodiesOfOtherOutcome Code = "the bodies differ, as one of the statuses tells of a success and the other does not"
	LastLineFeed         Code = "the last line ends in a line feed on one side, and not on the other"
	NotJSON              Code = "%s's is not JSON: %s"
	JSONDefect           Code = "%s's JSON has a defect, and %s's has not: %s"
	MoreDifferences      Code = "%d more differences are not listed"
)

// Codes for streams and events.
const (
	EndedByOthers       Code = "the streams were ended by different sides"
	CandidateLacksEvent Code = "the candidate does not send this: %s"
	ReferenceLacksEvent Code = "the reference does not send this: %s"
	SentOnceMore        Code = "the candidate sends %s once more"
	ElsewhereInOrder    Code = "%s comes at another place in the sequence%s"
	EventNames          Code = "the events have different names"
	EventFields         Code = "the event fields differ"
	EventNotation       Code = "the events are written differently"
	EventWithoutData    Code = "%s's event has no data, so that no client is told of it"
	RetriesDiffer       Code = "the reconnection times differ"
	HeartbeatUnknown    Code = "a heartbeat says something else than any of the reference's"
	NoOpeningHeartbeat  Code = "%s's stream ends without the heartbeat that comes with the opening"
	EventLate           Code = "%s comes later than a rule allows, %s%s"
	EventsApart         Code = "the events come further apart than a rule allows, %s%s"
)

// IsTimeNotation reports whether a sentence says that two times have different notations. Reports do not mark the
// characters in which such times differ, because nearly all differ.
func IsTimeNotation(sentence string) bool { return strings.HasPrefix(sentence, timesWritten) }
