# All commands of the project. Running the service needs Go only; the tests install
# what they need (see scripts/install-test-deps).

.DEFAULT_GOAL := help
.PHONY: help run demo build cross test quick clients bench lint race release fuzz hostile document screenshots lighthouse faults

FUZZTIME ?= 30s
HOSTILE ?= 200000
# make hostile HOSTILE=0 EXPENSIVE=pipes measures one family and sends no malformed
# requests.
EXPENSIVE ?= all
# make bench BENCH=-only=submit measures one workload and does not write the report.
BENCH ?= -markdown docs/benchmarks.md

help: ## Show this help.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

run: ## Run the server at http://127.0.0.1:8080 with SQLite in ./formulary-data.
	go run . serve

demo: ## Run the server with demo data and print the sign-in details.
	go run . serve --demo

build: ## Build bin/formulary.
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -funcalign=16" -o bin/formulary .

cross: ## Build bin/formulary for all supported platforms.
	scripts/cross

release: ## Build dist/ from the last commit: reproducible binaries, checksums, SBOMs (for UNCHECKED=1, see docs/deploying.md).
	scripts/release

test: ## Run all tests: both databases, a real browser, the race detector.
	scripts/install-test-deps postgres chromium axe vnu snippets standardwebhooks clamav
	scripts/with-postgres scripts/test

quick: ## Run the tests without the browser and the race detector.
	scripts/install-test-deps postgres snippets standardwebhooks clamav
	scripts/with-postgres go test $$(go list ./... | grep -v /e2e)

race: ## Run the tests without the browser under the race detector (make test does so where goroutines share state).
	scripts/install-test-deps postgres snippets standardwebhooks clamav
	scripts/with-postgres scripts/race -p 2 -count 1 -timeout 30m -skip '^TestExpensiveRequests$$' $$(go list ./... | grep -v /e2e)

clients: ## Test with seven OAuth libraries, two OpenAPI linters and two generated clients.
	e2e/clients/run

bench: ## Run the benchmarks and update docs/benchmarks.md (20 to 30 minutes).
	scripts/install-test-deps postgres
	scripts/with-postgres --durable go run ./bench $(BENCH)

lint: ## Check formatting and run go vet, staticcheck and govulncheck.
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go vet -tags screenshots,lighthouse,faults,million ./e2e ./internal/cli ./internal/web
	go run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	scripts/vulncheck

STATICCHECK := v0.7.0

faults: ## Run fault-injection tests and update docs/reliability.md.
	scripts/install-test-deps postgres strace ext4 standardwebhooks
	scripts/with-postgres scripts/faults

fuzz: ## Run each fuzz test for FUZZTIME (30s).
	@for target in $$(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' internal | sed 's|/[^/]*:func |:|' | sort); do \
		go test ./$${target%%:*} -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x || exit 1; \
	done

hostile: ## Send HOSTILE (200000) adversarial requests and measure expensive ones; set EXPENSIVE=name,name to select families, HOSTILE_SEED=n to repeat a run.
	scripts/install-test-deps postgres
	HOSTILE_REQUESTS=$(HOSTILE) HOSTILE_SEED=$${HOSTILE_SEED:-$$(date +%s)} EXPENSIVE=$(EXPENSIVE) scripts/with-postgres go test ./internal/cli -run 'TestHostileInput|TestExpensiveRequests' -count 1 -timeout 3h -v

document: ## Regenerate docs/openapi.json.
	UPDATE=1 go test ./internal/api -run TestDocumentIsCommitted -count 1

screenshots: ## Update the screenshots in docs/images.
	scripts/install-test-deps chromium axe
	go test -tags screenshots ./e2e -run TestScreenshots -count 1 -timeout 5m

lighthouse: ## Check public pages, in every mood and layout, and the workspace with Lighthouse on a quiet machine (4 minutes).
	scripts/install-test-deps chromium axe lighthouse
	go test -tags lighthouse ./e2e -run TestLighthouse -count 1 -timeout 15m -v
