# The agent server, its reference, and the harness that compares them.
#
#   make parity       builds both servers, walks every scenario through them, prints one verdict
#   make parity-slow  what takes a minute: the default times
#   make test         every test, with the race detector
#   make test-faults  what breaks around a run, and is never green
#   make test-keyring the keyring of a desktop
#   make test-browser what a browser makes of the report, the servers and the client library
#   make help         all targets
#
# Tools are pinned in go.mod and in the package-lock.json of reference, sdk/ts and sdk/agent-parity; every target installs what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DEFAULT_GOAL := help

GO_FILES := $(shell find . -name '*.go' -not -path './reference/*' -not -path './.examples/*' -not -path '*/node_modules/*')
TS_FILES := $(shell find reference/src -name '*.ts')
SDK_FILES := $(shell find sdk/ts/src sdk/ts/driver -name '*.ts')
AGENT_PARITY_FILES := $(shell find sdk/agent-parity/src -name '*.ts')
# Empty where Node is not installed: there, what the reference did elsewhere stands in for it.
NODE := $(shell command -v node)
RECORDING := reports/reference
ARGS ?=
RUNS ?= 10
PARTS ?= 1
RESULTS ?= 1000
SEQUENCES ?= 300
SEED ?= 1
KILLS ?= 200
REPLIES ?= 1000
# Empty ones mean the defaults of the tests.
LOAD ?=
CLIENTS ?=
AT_ONCE ?=
REQUESTS ?=
CLI_SESSIONS ?= 10000
FUZZTIME ?= 10s
FUZZ ?=
# Packages with public OpenAPI documents. None of them is kept here.
DOCUMENTS := @readme/oas-examples@8.2.2 @scalar/galaxy@0.2.20 @octokit/openapi@23.0.2
# The document that goose publishes for its server, version 1.16.0. It is not kept here.
GOOSE_OPENAPI ?=

# What reads bytes that somebody else has written: archives, JSON, event streams, frames of sockets, lines of programs, scenarios, run files, exports to a collector. Each test run fuzzes these.
READERS := harness/internal/archive:FuzzRead internal/jsontree:FuzzParse internal/jsontree:FuzzScanAgreesWithTheDecoder \
  harness/transport/sse:FuzzReader harness/transport/ws:FuzzFrames harness/transport/stdio:FuzzLines harness/scenario:FuzzParse harness/run:FuzzOutcome harness/transcript:FuzzReadRun harness/transcript:FuzzLine \
  harness/stub/otlp:FuzzExports \
  sdk/agent:FuzzLines sdk/agent:FuzzMembers sdk/agent:FuzzControl
FUZZ_TARGETS = $(shell grep -ro --include='*_test.go' --exclude-dir=node_modules --exclude-dir=.examples '^func Fuzz[A-Za-z]*' . | sed 's,^\./,,; s,/[^/]*:func ,:,')

.PHONY: help
help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: build
build: bin/lockstep bin/agentd bin/agentcli reference/dist/main.js sdk/ts/dist/driver.js ## Build the harness, both servers and the client library

# As in a release (.goreleaser.yaml).
bin/lockstep bin/agentd bin/agentcli: $(GO_FILES) go.mod go.sum
	CGO_ENABLED=0 go build -trimpath -o $@ ./cmd/$(notdir $@)

bin/clienttools-driver: $(GO_FILES) go.mod go.sum
	CGO_ENABLED=0 go build -trimpath -o $@ ./sdk/clienttools/driver

reference/dist/main.js: $(TS_FILES) reference/build.js reference/node_modules
	npm --prefix reference run --silent build
	@touch $@

bin/agentsdk-driver: $(GO_FILES) go.mod go.sum
	CGO_ENABLED=0 go build -trimpath -o $@ ./sdk/agent/driver

sdk/ts/dist/driver.js: $(SDK_FILES) sdk/ts/build.js sdk/ts/tsconfig.json sdk/ts/tsconfig.build.json sdk/ts/node_modules
	npm --prefix sdk/ts run --silent build
	@touch $@

%/node_modules: %/package.json %/package-lock.json
	npm --prefix $* ci --silent
	@touch $@

.PHONY: parity
ifneq ($(NODE),)
parity: build ## Walk every scenario through both servers and print one verdict (ARGS="--tag sse")
	bin/lockstep run $(ARGS)
else
parity:
	@echo "Node is not installed: the Go server is judged against the recording of the reference in $(RECORDING)"
	@test -e $(RECORDING)/recording.jsonl || { echo "there is none: run make record where Node is, and bring $(RECORDING) here" >&2; exit 2; }
	@$(MAKE) --no-print-directory bin/lockstep bin/agentd
	bin/lockstep run --against $(RECORDING) $(ARGS)
endif

.PHONY: parity-sdk
parity-sdk: build bin/clienttools-driver ## Walk the scenarios of the client libraries through both of them
	bin/lockstep run -c lockstep-sdk.yaml --reports reports/sdk $(ARGS)

# Not a part of build: the published SDK is not ours. The .npmrc there leaves out the CLI that its package offers.
sdk/agent-parity/dist/driver.js: $(AGENT_PARITY_FILES) sdk/agent-parity/tsconfig.json sdk/agent-parity/node_modules
	npm --prefix sdk/agent-parity run --silent build
	@touch $@

.PHONY: parity-agent-sdk
parity-agent-sdk: bin/lockstep bin/agentsdk-driver sdk/agent-parity/dist/driver.js ## Walk the scenarios of the agent SDK through it and the published one, which npm fetches
	bin/lockstep run -c lockstep-agent-sdk.yaml --reports reports/agent-sdk $(ARGS)

.PHONY: record
record: build ## Keep what the reference does, for make parity where Node is not installed
	bin/lockstep run --record $(RECORDING) $(ARGS)

.PHONY: lockstep
lockstep: parity ## The same

.PHONY: mutate
mutate: parity ## Show which mistakes of the candidate the scenarios would not notice (docs/mutation.md)
	bin/lockstep mutate

.PHONY: parity-slow
parity-slow: build ## What takes a minute: the default times, on both servers
	bin/lockstep run -c lockstep-slow.yaml $(ARGS)

# Vitest and the fuzzing run beside the tests in Go, and what they say comes in one piece. Most tests wait more than they
# work, and the race detector would have each program wait for a second more at its end. internal/house only reads files,
# in one goroutine; there the race detector would find nothing in seven times the time.
.PHONY: test
test: build ## Run every test, with the race detector where goroutines are
	@said=$$(mktemp); trap 'rm -f $$said' EXIT; status=0; \
	{ go test ./internal/house && npm --prefix reference test --silent && npm --prefix sdk/ts test --silent && $(MAKE) --no-print-directory fuzz FUZZ="$(READERS)" FUZZTIME=10000x; } >$$said 2>&1 & \
	GORACE=atexit_sleep_ms=0 go tool gotestsum --format pkgname -- -race -p 4 -timeout 20m $$(go list ./... | grep -v /internal/house$$) || status=1; \
	wait $$! || status=1; cat $$said; exit $$status

.PHONY: test-slow
test-slow: build ## Run the Go tests fifty times
	go test -race -count=50 ./...

.PHONY: fuzz
fuzz: ## Fuzz each fuzz target for a while (FUZZTIME=30s); what they find is kept under testdata/fuzz
	@for target in $(or $(FUZZ),$(FUZZ_TARGETS)); do \
	  echo "fuzz $$target"; \
	  go test -run '^$$' -fuzz "^$${target#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1000x -timeout 600s "./$${target%:*}" | \
	    { grep -v '^fuzz: elapsed' || true; }; \
	done

.PHONY: test-faults
test-faults: ## Break everything around a run, and demand that none of it is green
	go test -race -count=1 -timeout 10m -run 'TestNothingAroundARunMakesItGreen|TestThereAreManyFaults' ./cmd/lockstep

.PHONY: test-browser
test-browser: build ## Test the report, both servers and the client library in Debian's chromium, which is installed where there is none
	@command -v chromium >/dev/null || { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends chromium; } >/dev/null
	cd internal/browser && go vet . && go test -count=1 -timeout 10m .

.PHONY: test-keyring
test-keyring: reference/node_modules ## Test both servers with the keyring of GNOME, which is installed from Debian where there is none
	@{ command -v gnome-keyring-daemon && command -v dbus-run-session; } >/dev/null || { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends gnome-keyring dbus-daemon; } >/dev/null
	AGENTD_TEST_KEYRING=1 go test -count=1 -timeout 2m -run '^TestTheKeyringOfADesktop$$' ./cmd/agentd
	AGENTD_TEST_KEYRING=1 npm --prefix reference test -- src/settings/keyring/desktop.test.ts

.PHONY: test-twins
test-twins: build ## Run each server against itself: whatever is found is a false alarm (RUNS=10, each of one in PARTS=1 scenarios)
	LOCKSTEP_TWINS=$(RUNS) LOCKSTEP_TWIN_PARTS=$(PARTS) go test -v -count=1 -timeout 24h -run '^TestTwins$$' ./cmd/lockstep

.PHONY: test-twins-wires
test-twins-wires: ## Run correct servers of sockets, programs and drivers against others: whatever is found is a false alarm (RESULTS=1000)
	LOCKSTEP_TWIN_RESULTS=$(RESULTS) go test -v -count=1 -timeout 2h -run '^TestTwinsOverWires$$' ./harness/engine

.PHONY: test-documents
test-documents: fetch-documents ## Read public OpenAPI documents, which npm fetches into .documents, and draft a project from each
	LOCKSTEP_DOCUMENTS=$(CURDIR)/.documents/node_modules go test -v -count=1 -timeout 20m -run '^TestPublicDocuments$$' ./harness/lab/scaffold

.PHONY: fetch-documents
fetch-documents:
	npm install --prefix .documents --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 $(DOCUMENTS)

.PHONY: test-examples
test-examples: ## Run the examples of other people's libraries, which npm and go fetch into .examples; says NOT RUN where they cannot
	LOCKSTEP_EXAMPLES=$(CURDIR)/.examples go test -v -count=1 -timeout 25m ./examples

.PHONY: test-sequences
test-sequences: build ## Run generated sequences through both servers (SEQUENCES=300 SEED=1)
	LOCKSTEP_SEQUENCES=$(SEQUENCES) LOCKSTEP_SEQUENCES_SEED=$(SEED) go test -v -count=1 -timeout 2h -run '^TestSequences$$' ./cmd/lockstep

.PHONY: test-replies
test-replies: ## Have replies of 1,000 sessions open at once, and all of them answered (REPLIES=1000)
	AGENTD_REPLIES=$(REPLIES) go test -v -count=1 -timeout 20m -run '^TestRepliesAtOnce$$' ./cmd/agentd

.PHONY: test-real-cli
test-real-cli: bin/lockstep ## Run the agent SDK with the published CLI, the claude in PATH, and a scripted model
	AGENTSDK_REAL_CLI=$(CURDIR)/bin/lockstep go test -v -count=1 -timeout 15m ./sdk/agent/realcli

.PHONY: test-cli-sessions
test-cli-sessions: ## Run sessions of the agent SDK one after the other, and 200 at once, and demand that nothing is left (CLI_SESSIONS=10000)
	AGENTSDK_SESSIONS=$(CLI_SESSIONS) go test -v -count=1 -timeout 30m -run '^TestSessions' ./sdk/agent

.PHONY: test-kills
test-kills: ## Kill the Go server under load, and demand all sessions, settings, secrets, permissions and providers that it had acknowledged (KILLS=200)
	AGENTD_KILLS=$(KILLS) go test -v -count=1 -timeout 2h -run '^TestWhatWasAcknowledged(InFiles)?SurvivesKills$$' ./cmd/agentd

.PHONY: test-abuse
test-abuse: build ## Put bounded loads on both servers, and demand that they answer, stay small and leave nothing behind (LOAD=go/clients CLIENTS=1000)
	AGENTD_ABUSE=1 AGENTD_ABUSE_CLIENTS=$(CLIENTS) AGENTD_ABUSE_AT_ONCE=$(AT_ONCE) AGENTD_ABUSE_REQUESTS=$(REQUESTS) \
	  go test -v -count=1 -timeout 1h -run '^TestAbuse$$/$(LOAD)' ./cmd/agentd

.PHONY: bench
bench: build ## Run the Go benchmarks; docs/performance.md says how to read them
	go test -timeout 10m -run '^$$' -bench . ./...

.PHONY: bench-compare
bench-compare: ## Compare large JSON documents beside what others offer; takes many minutes
	cd harness/compare/bench && go test -timeout 60m -run '^$$' -bench Compare -benchtime 1x .

.PHONY: bench-agent-sdk
bench-agent-sdk: sdk/agent-parity/dist/driver.js ## Compare tool calls through the agent SDK with the published one, which npm fetches, and with a bare pipe
	go test -timeout 10m -run '^$$' -bench Calls ./sdk/agent

.PHONY: bench-sockets
bench-sockets: ## Compare round trips on a WebSocket with those of another library, after a test that both agree
	cd harness/transport/ws/bench && go vet . && go test -count=1 -timeout 10m -bench . -benchtime 1x .

.PHONY: lint
lint: reference/node_modules sdk/ts/node_modules sdk/agent-parity/node_modules ## Check format, vet, staticcheck, tsc, eslint and the scenarios
	@test -z "$$(gofmt -l $(GO_FILES))" || { echo "not formatted: run make fmt"; gofmt -l $(GO_FILES); exit 1; }
	go vet ./...
	go tool staticcheck ./...
	npm --prefix reference run --silent lint
	npm --prefix sdk/ts run --silent lint
	npm --prefix sdk/agent-parity run --silent lint
	go run ./cmd/lockstep lint

.PHONY: fmt
fmt: ## Format the Go files
	gofmt -w $(GO_FILES)

.PHONY: generate
generate: reference/node_modules ## Make gen/ from openapi.yaml, and docs/reference.md from the JSON Schemas
	go generate ./gen ./internal/schemadoc

.PHONY: notices
notices: ## Make NOTICES from the licences of the modules that the programs contain
	go test -count=1 ./internal/release -run TestTheNoticesAreUpToDate -update

.PHONY: check-generate
check-generate: reference/node_modules ## Fail when what is generated is not what its sources make
	go test -count=1 ./gen ./internal/schemadoc

.PHONY: update-golden
update-golden: ## Rewrite the golden files; review the diff like code
	go test ./harness/report -update
	go test ./harness/lab/mutate -update
	go test ./cmd/lockstep -run 'TestTheTutorialIsTrue|TestTheReadmeShowsTheWholeRun' -update
	go test ./harness -run TestTheGuideQuotesTheExamples -update

.PHONY: contract-goose
contract-goose: ## Hold openapi.yaml against the document that goose publishes (GOOSE_OPENAPI=path)
	@test -n "$(GOOSE_OPENAPI)" || { echo "Say where goose's openapi.json, version 1.16.0, is: make contract-goose GOOSE_OPENAPI=path/to/openapi.json" >&2; exit 2; }
	cd internal/goosecontract && go vet . && go run . -published "$(abspath $(GOOSE_OPENAPI))" && go test -count=1 -timeout 5m .

.PHONY: tidy
tidy: ## Tidy go.mod
	go mod tidy

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin reference/dist reference/node_modules sdk/ts/dist sdk/ts/node_modules sdk/agent-parity/dist sdk/agent-parity/node_modules $(addprefix reports/,run.jsonl report.json report.html junit.xml summary.md badge.svg)
