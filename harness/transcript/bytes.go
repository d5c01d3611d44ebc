package transcript

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Header fields and events often have bytes that are not UTF-8, so they encode such bytes themselves. nonUTF8Texts has
// the other texts.

// MarshalJSON writes ["name", "value"], or ["name", null, "base64"] when the value is not UTF-8.
func (f Field) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(f.Name) && utf8.ValidString(f.Value) {
		return json.Marshal([2]string{f.Name, f.Value})
	}
	return json.Marshal([3]any{f.Name, nil, []byte(f.Value)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Field) UnmarshalJSON(data []byte) error {
	if plain, ok := fastField(data); ok {
		*f = plain
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 && len(parts) != 3 {
		return errors.New("a header field is a list of a name and a value")
	}
	if err := json.Unmarshal(parts[0], &f.Name); err != nil {
		return err
	}
	if len(parts) == 2 {
		return json.Unmarshal(parts[1], &f.Value)
	}
	var raw []byte
	err := json.Unmarshal(parts[2], &raw)
	f.Value = string(raw)
	return err
}

// plainEvent is an Event without its methods.
type plainEvent Event

// eventBytes is an Event with separate members for texts that are not UTF-8.
type eventBytes struct {
	plainEvent
	DataBytes    []byte `json:"data_base64,omitempty"`
	FramingBytes []byte `json:"framing_base64,omitempty"`
}

// MarshalJSON writes the event. Data and framing that are not UTF-8 become data_base64 and framing_base64.
func (e Event) MarshalJSON() ([]byte, error) {
	out := eventBytes{plainEvent: plainEvent(e)}
	if !utf8.ValidString(e.Data) {
		out.Data, out.DataBytes = "", []byte(e.Data)
	}
	if !utf8.ValidString(e.Framing) {
		out.Framing, out.FramingBytes = "", []byte(e.Framing)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(data []byte) error {
	var in eventBytes
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Event(in.plainEvent)
	if in.DataBytes != nil {
		e.Data = string(in.DataBytes)
	}
	if in.FramingBytes != nil {
		e.Framing = string(in.FramingBytes)
	}
	return nil
}
