# Each command in one place. Running the service needs Go alone; the tests
# install what they need (see scripts/install-test-deps).

.DEFAULT_GOAL := help
.PHONY: help run demo build cross test quick clients bench lint release fuzz hostile document screenshots faults

FUZZTIME ?= 30s
HOSTILE ?= 200000
# make hostile HOSTILE=0 EXPENSIVE=pipes measures one family and sends nothing else.
EXPENSIVE ?= all
# make bench BENCH=-only=submit measures one work and writes no page.
BENCH ?= -markdown docs/benchmarks.md

help: ## Show this list.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

run: ## Run the service at http://127.0.0.1:8080 with SQLite in ./formulary-data.
	go run . serve

demo: ## The same with demo data; prints how to sign in.
	go run . serve --demo

build: ## Build the binary: bin/formulary.
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/formulary .

cross: ## Build for every supported platform, into bin/.
	scripts/cross

release: ## Make dist/ from the last commit: binaries, the same bytes twice, checksums, SBOMs (UNCHECKED=1: see docs/deploying.md).
	scripts/release

test: ## Run every test: both databases, a real browser, the race detector.
	scripts/install-test-deps postgres chromium axe
	scripts/with-postgres scripts/test

quick: ## Run the tests without the race detector and the browser.
	scripts/install-test-deps postgres
	scripts/with-postgres go test $$(go list ./... | grep -v /e2e)

clients: ## Run seven OAuth libraries, two linters of the API document and two generated clients.
	e2e/clients/run

bench: ## Measure speed beside a bare net/http server and peers, and write docs/benchmarks.md (15 to 25 minutes).
	scripts/install-test-deps postgres
	scripts/with-postgres --durable go run ./bench $(BENCH)

lint: ## Check formatting and what go vet, staticcheck and govulncheck find.
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	scripts/vulncheck

STATICCHECK := v0.7.0

faults: ## Break what the service stands on; the figures go into docs/reliability.md.
	scripts/install-test-deps postgres strace ext4
	scripts/with-postgres scripts/faults

fuzz: ## Run each fuzz test for FUZZTIME (30s).
	@for target in $$(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' internal | sed 's|/[^/]*:func |:|' | sort); do \
		go test ./$${target%%:*} -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x || exit 1; \
	done

hostile: ## Send HOSTILE (200000) malformed requests and measure expensive ones; EXPENSIVE=name,name measures some families, HOSTILE_SEED=n sends the same again.
	scripts/install-test-deps postgres
	HOSTILE_REQUESTS=$(HOSTILE) HOSTILE_SEED=$${HOSTILE_SEED:-$$(date +%s)} EXPENSIVE=$(EXPENSIVE) scripts/with-postgres go test ./internal/cli -run 'TestHostileInput|TestExpensiveRequests' -count 1 -timeout 3h -v

document: ## Write docs/openapi.json anew from the code.
	UPDATE=1 go test ./internal/api -run TestDocumentIsCommitted -count 1

screenshots: ## Write pictures of the main pages to docs/images.
	scripts/install-test-deps chromium axe
	go test -tags screenshots ./e2e -run TestScreenshots -count 1 -timeout 5m
