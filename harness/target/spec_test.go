package target

import (
	"testing"
)

func TestValidateNamesEveryMistake(t *testing.T) {
	command := []string{"agentd", "--port", "${{ port }}"}
	for name, row := range map[string]struct {
		spec Spec
		want string // the lines of the error
	}{
		"a command":        {Spec{Name: "go", Command: command}, ""},
		"port in the env":  {Spec{Name: "go", Command: []string{"agentd"}, Env: map[string]string{"PORT": "${{port}}"}}, ""},
		"a URL":            {Spec{Name: "go", URL: "https://example.org/v1"}, ""},
		"a path and query": {Spec{Name: "go", Command: command, Ready: Ready{Path: "/ready?deep=1", Status: 401}}, ""},
		"nothing":          {Spec{}, "it has no name\nit has neither a command nor a URL"},
		"both": {
			Spec{Name: "go", Command: command, URL: "http://localhost:1"},
			"it has a command and a URL: give the command that starts a server, or the URL of a running one",
		},
		"no port": {
			Spec{Name: "go", Command: []string{"agentd", "${{ host }}"}},
			"no argument, env value or file contains ${{ port }}, so the server cannot know where to listen",
		},
		"placeholders": {
			Spec{Name: "go", Command: []string{"", "${{ port }}:${{ prot }}", "${{ port"}, Env: map[string]string{"A=B": "", "DIR": "${{ dir }}"}},
			"the name of its command is empty\n" +
				"command[1]: ${{ prot }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}\n" +
				"command[2]: \"${{ port\" is not closed by }}\n" +
				"env: \"A=B\" is not the name of a variable\n" +
				"env DIR: ${{ dir }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}",
		},
		"port in a file": {Spec{Name: "go", Command: []string{"agentd"}, Files: []File{{Path: "a.json", Data: []byte("${{ port }}"), Text: true}}}, ""},
		"a directory":    {Spec{Name: "go", Command: command, Dir: "${{ directory }}/a", Env: map[string]string{"HOME": "${{ directory }}"}}, ""},
		"files": {
			Spec{Name: "go", Command: command, Dir: "/x/${{ port }}", Files: []File{
				{Path: "a/b"}, {Path: "a/b/c"}, {Path: "a/b"}, {Path: "../x"}, {Path: "/x"}, {Path: "a/../x"}, {Path: `a\x`}, {Path: "."}, {Path: ""}, {Path: "b", Data: []byte("${{ x }}"), Text: true},
			}},
			"dir: a working directory cannot contain the port\n" +
				"files \"a/b\" and \"a/b/c\" conflict: they have the same path, or one is in the other\nfiles \"a/b\" and \"a/b\" conflict: they have the same path, or one is in the other\n" +
				"files \"a/b/c\" and \"a/b\" conflict: they have the same path, or one is in the other\n" +
				"file \"../x\" is not a path below the directory, such as config/config.yaml\n" +
				"file \"/x\" is not a path below the directory, such as config/config.yaml\n" +
				"file \"a/../x\" is not a path below the directory, such as config/config.yaml\n" +
				"file \"a\\\\x\" is not a path below the directory, such as config/config.yaml\n" +
				"file \".\" is not a path below the directory, such as config/config.yaml\n" +
				"file \"\" has no name\n" +
				"file \"b\": ${{ x }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}",
		},
		"a NUL":     {Spec{Name: "go", Command: append(command, "a\x00b")}, "command[3] has a NUL byte"},
		"a program": {Spec{Name: "go", Program: true, Command: []string{"tool", "${{ directory }}"}}, ""},
		"a program's port": {
			Spec{Name: "go", Program: true, Command: []string{"tool"}, Env: map[string]string{"AT": "${{ host }}"}},
			"it uses ${{ port }} or ${{ host }}, but a program has neither: it talks over standard input and output",
		},
		"a program that is a server": {
			Spec{Name: "go", Program: true, URL: "http://host", Ready: Ready{Path: "/"}}, "it is a program: it has a command, and is never ready",
		},
		"another scheme":  {Spec{Name: "go", URL: "localhost:80"}, `url "localhost:80" is not of the form http://host:port`},
		"no host":         {Spec{Name: "go", URL: "http://:80"}, `url "http://:80" is not of the form http://host:port`},
		"a password":      {Spec{Name: "go", URL: "http://me:secret@host"}, `url "http://me:xxxxx@host" may only have a host and a path`},
		"URL and process": {Spec{Name: "go", URL: "http://host", Dir: "x"}, "directory, files, environment, stop and log are only allowed for a server that lockstep starts, not for a URL"},
		"odd numbers": {
			Spec{Name: "go", Command: command, Ready: Ready{Path: "status", Status: 99}},
			"ready path \"status\" is not a path such as \"/status\"\nready status 99 is not a final HTTP status",
		},
	} {
		got := ""
		if err := row.spec.Validate(); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: Validate:\n%s\nwant:\n%s", name, got, row.want)
		}
	}
}

func TestStartRefusesAnInvalidSpec(t *testing.T) {
	_, err := Start(t.Context(), Spec{Name: "go"}, nil)
	if want := `target "go": it has neither a command nor a URL`; err == nil || err.Error() != want {
		t.Errorf("Start: %v, want %s", err, want)
	}
}

func TestPlaceholdersAreFilledEverywhereAndOnlyOnce(t *testing.T) {
	values := map[string]string{"host": loopback, "port": "${{ host }}"}
	got := fill("http://${{host}}:${{  port\t}}/$ {{ port }} $${{ port }}}", values)
	want := "http://127.0.0.1:${{ host }}/$ {{ port }} $${{ host }}}"
	if got != want {
		t.Errorf("fill: %q, want %q", got, want)
	}
}
