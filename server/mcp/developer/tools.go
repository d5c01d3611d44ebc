package developer

// tools are the tools that the server lists (decision X15), with their descriptions and JSON Schemas.
var tools = map[string]struct{ description, schema string }{
	"analyze": {"Shows the functions and classes of source files, and who calls them.",
		`{"type":"object","properties":{"path":{"type":"string","description":"The file or directory"},` +
			`"focus":{"type":"string","description":"The symbol whose definitions and calls are shown"},` +
			`"follow_depth":{"type":"integer","description":"How far calls are followed: 2"},` +
			`"max_depth":{"type":"integer","description":"How deep directories are read: 3, 0 for no limit"},` +
			`"ast_recursion_limit":{"type":"integer","description":"Without effect"},` +
			`"force":{"type":"boolean","description":"Shows more than 1000 lines"}},"required":["path"]}`},
	"image_processor": {"Reads an image file and makes it small enough to look at.",
		`{"type":"object","properties":{"path":{"type":"string","description":"The path of the image"}},"required":["path"]}`},
	"list_windows": {"Lists the windows of the desktop.",
		`{"type":"object","properties":{}}`},
	"screen_capture": {"Captures a display or a window of the desktop.",
		`{"type":"object","properties":{"display":{"type":"integer","description":"The number of the display"},` +
			`"window_title":{"type":"string","description":"The title of the window"}}}`},
	"shell": {"Runs a command in a shell and returns what it prints.",
		`{"type":"object","properties":{"command":{"type":"string","description":"The command"}},"required":["command"]}`},
	"text_editor": {"Views, writes and changes text files.",
		`{"type":"object","properties":{"path":{"type":"string","description":"The path of the file or directory"},` +
			`"command":{"type":"string","description":"view, write, str_replace, insert or undo_edit"},` +
			`"diff":{"type":"string","description":"str_replace: a unified diff, instead of old_str and new_str"},` +
			`"view_range":{"type":"array","items":{"type":"integer"},"description":"view: the first and the last line, -1 for the end"},` +
			`"file_text":{"type":"string","description":"write: the new content"},` +
			`"old_str":{"type":"string","description":"str_replace: the text that goes"},` +
			`"new_str":{"type":"string","description":"str_replace, insert: the text that comes"},` +
			`"insert_line":{"type":"integer","description":"insert: the line behind which the text comes, 0 for the beginning, -1 for the end"}},"required":["path","command"]}`},
}
