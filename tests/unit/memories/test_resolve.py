from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pytest

from recollect.config.memory_root import memory_root, memory_root_at
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import PROJECT
from recollect.domain.ranking.title_match import Wording
from recollect.embedding.registry import create_embedder
from recollect.engine.engine import Engine
from recollect.errors import StorageError
from recollect.files.memory.index_md import IndexEntry, read_index
from recollect.files.memory.lock import FOLDER
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.memories import resolve as resolve_module
from recollect.memories.likeness import LEAST_COSINE
from recollect.memories.resolve import EVENTS, Candidate, Resolution, resolve
from recollect.store.values import MEMORY
from recollect.sync.memories import memory_entry

DEFAULTS = Settings({}, [])
ENTRY = IndexEntry("decision", "A title", ".claude/memory/decisions/a.json", ["tag"])


class Known(NamedTuple):
    category: str
    title: str
    content: dict[str, str]
    reworded: list[str]


# Two projects: their memories, each with the same thing said in other words (=), and what else may happen there, which
# is near to what is known and yet none of it (!).
SHOP = """
decision: Store orders in PostgreSQL
  context: Orders need transactions across several tables.
  decision: Orders, carts and payments live in one PostgreSQL database.
  = We settled on a relational database for purchases, because a checkout has to change many rows atomically.
  = Postgres is what we keep all order and payment records in.
decision: JWT in HttpOnly cookies for sign-in
  context: The web client needs a session that survives a reload.
  decision: Access tokens are JWTs kept in HttpOnly cookies, refreshed every 15 minutes.
  = Login state is now a signed token that the browser keeps out of reach of JavaScript.
  = Auth uses cookie-based tokens with a short lifetime that are renewed regularly.
decision: Monorepo with pnpm workspaces
  context: Three packages share types and are released together.
  decision: All packages live in one repository managed by pnpm workspaces.
  = Frontend, backend and shared code stay in a single git repo instead of being split up.
  = We keep every package in the same repository so that one PR can touch all of them.
decision: Render product pages on the server
  context: Search engines did not index the client-side pages.
  decision: Product pages are rendered on the server with Next.js and cached for a minute.
  = Catalogue HTML is generated server side so that Google can crawl it.
  = SSR through Next for the pages of articles, because of SEO.
decision: Queue e-mails in Redis with BullMQ
  context: Sending mail inside the request made checkout slow.
  decision: E-mails are queued in Redis and sent by a BullMQ worker.
  = Outgoing mail is handed to a background job so that customers do not wait for SMTP.
  = Order confirmations are sent asynchronously by a worker with a message queue.
  ! Uploaded product images are stored in S3 and served through CloudFront.
  ! Sessions of the admin panel use server-side sessions in Redis, with a time-out of an hour.
  ! Releases are tagged by semantic-release from the commit messages.
  ! The cart page is a client-side React application that talks to the API with GraphQL.
  ! Rate limits are counted in Redis with a sliding window.
  ! Reports are computed nightly in ClickHouse, fed from the orders database.
  ! Push notifications are sent through Firebase.
  ! Customer sessions are kept in a relational table and expire after a day.
  ! Payments are handled by Stripe, not by Adyen, because of its webhooks.
  ! The browser keeps the cart in localStorage until the customer signs in.
  ! Background jobs that resize images run as AWS Lambda functions.
  ! Shared types are generated from the OpenAPI document.
  ! Category listings are static HTML, built every night.
  ! Passwordless login by a link that is sent by e-mail.
runbook: Fix ECONNREFUSED of the test database
  trigger: Integration tests fail with ECONNREFUSED 127.0.0.1:5433.
  root_cause: The Docker container of the test database is not running after a reboot.
  = When the test suite cannot reach postgres, start its container again with docker compose.
  = Connection refused on port 5433 while testing means that docker is not up.
runbook: Clear a stuck payment webhook
  trigger: Stripe shows webhooks pending for more than ten minutes.
  root_cause: The signature secret was rotated but the deployment still has the old one.
  = If Stripe events pile up undelivered, update the signing key in the environment and replay them.
  = Webhook deliveries from Stripe hang because the secret was changed.
runbook: Recover from a failed database migration
  trigger: Deployment stops with 'relation already exists'.
  root_cause: A migration was applied halfway before the pod was killed.
  = A schema change that broke off in the middle: mark it rolled back, then run migrate again.
  = Deploy aborts as the table is already there: half of the migration had run.
runbook: Out of memory in the CI build
  trigger: The build job is killed with exit code 137.
  root_cause: Node's heap grows over the runner's 4 GB while bundling source maps.
  = Pipeline dies with 137 during webpack: raise max-old-space-size, the bundler runs out of RAM.
  = Exit 137 in the build: node needs more heap on the runner.
runbook: Renew the expired TLS certificate of staging
  trigger: Browsers warn about staging.shop.example.
  root_cause: The cert-manager account lost its DNS permission.
  = HTTPS on the staging host is invalid again; give the issuer access to DNS and request a new certificate.
  = The SSL cert on the staging environment has run out.
  ! Redis refuses connections after maxmemory is reached: flush the cache database.
  ! When PayPal refunds fail with 422, cancel the authorisation first.
  ! Roll back a bad deployment with helm rollback.
  ! The linter job in CI fails with a cache error: delete the cache key.
  ! Staging shows an old version: purge the CDN.
  ! Restore the production database from the nightly backup.
  ! Production cannot connect to its database: the connection pool is exhausted, restart pgbouncer.
  ! Stripe payouts are late: check the balance and the bank account in the dashboard.
  ! A migration takes too long and blocks writes: cancel it and create the index concurrently.
  ! CI jobs wait for a runner for an hour: scale the runner group up.
  ! The domain of production does not resolve: renew it at the registrar.
  ! Docker build fails with no space left on device: prune images.
constraint: Card numbers never touch our servers
  rule: Card data goes from the browser to Stripe; we only see tokens.
  impact: PCI scope stays at SAQ-A
  = For PCI reasons we must not receive or log any credit card details ourselves.
  = Credit cards are tokenised in the browser by Stripe; our backend never sees them.
constraint: API answers must stay below 200 ms
  rule: The 95th percentile of every public endpoint is at most 200 ms.
  impact: no synchronous calls to third parties
  = There is a latency budget: p95 of requests may not exceed a fifth of a second.
  = Endpoints have to respond in under 200 milliseconds.
constraint: Node 18 is the newest runtime on production
  rule: Production hosts run Node 18; newer syntax must be compiled.
  impact: no built-in test runner features of Node 20
  = We cannot use features of Node 20, because the servers are stuck on version 18.
  = Prod is limited to Node.js 18.
constraint: Customer data stays in the EU
  rule: Personal data is stored and processed in eu-central-1 only.
  impact: no US-hosted analytics
  = GDPR: user information may not leave European data centres.
  = Personal information has to be hosted in Frankfurt, not in the US.
constraint: No new dependencies without a licence check
  rule: Only MIT, BSD and Apache-2.0 packages may be added.
  impact: GPL code cannot be linked
  = Third-party libraries need legal approval; copyleft ones are forbidden.
  = Before adding an npm package make sure that it is MIT, BSD or Apache licensed.
  ! Passwords must be hashed with argon2 and never logged.
  ! Uploads may not be larger than 10 MB.
  ! The API must stay compatible with the mobile app of last year.
  ! Backups are kept for 30 days and then deleted.
  ! Internet Explorer is not supported.
  ! No deployments on Fridays after noon.
  ! Customers' addresses must not be written to logs.
  ! Background jobs must finish within five minutes.
  ! Postgres on the servers is version 13, so MERGE is not available.
  ! Deleted accounts must be erased from all systems within 30 days, by GDPR.
  ! Every dependency must be pinned to an exact version.
  ! Invoices have to be kept for ten years by law.
tech_debt: Search uses LIKE over the whole products table
  description: Product search scans the table with ILIKE and takes seconds.
  = Looking up articles does a sequential scan and gets slow; it should have an index.
  = The product search is slow since it uses ILIKE rather than full text.
tech_debt: Tests share one database and cannot run in parallel
  description: All integration tests write to the same schema.
  = The suite must run serially because every spec uses the same tables.
  = Integration specs interfere with each other as they write into one schema.
tech_debt: Price rounding is written in four places
  description: Cart, invoice, mail and admin each round prices in their own way.
  = Amounts are rounded by duplicated code in several modules; unify it.
  = Four different implementations of rounding money exist.
tech_debt: Admin panel still runs on jQuery
  description: The back office is a jQuery application without a build step.
  = The internal dashboard is legacy frontend code that ought to be rewritten in React.
  = Backoffice UI is old jQuery, migrate it to React.
tech_debt: Feature flags are never removed
  description: Over forty flags are in the code, most of them fully on for a year.
  = Old toggles that are always enabled clutter the code and should be cleaned up.
  = Dozens of stale flags that nobody deletes.
  ! The product import reads the whole CSV file into memory.
  ! End-to-end tests are flaky because they wait with fixed sleeps.
  ! Currency conversion uses rates that are hard-coded.
  ! The storefront still has class components of React.
  ! Environment variables are read all over the code instead of in one config module.
  ! Listing orders in the admin panel has no pagination and gets slow.
  ! Unit tests call the real Stripe sandbox.
  ! Tax rates are duplicated in the frontend and in the backend.
  ! The admin panel has no tests at all.
  ! Dead code of the old checkout was never deleted.
preference: Small pull requests
  topic: size of changes
  value: Pull requests stay below 300 changed lines.
  = The user wants changes split up so that each review is short.
  = Keep PRs under 300 lines.
preference: Named exports in TypeScript
  topic: module exports
  value: Use named exports, never default exports.
  = Do not write `export default`; give everything that is exported its name.
  = Avoid default exports.
preference: Table-driven tests
  topic: test layout
  value: Cases are rows of a table with one test body.
  = Write unit tests parametrised over a list of inputs and expected values.
  = Tests should list their cases in a table instead of repeating the body.
preference: Commit messages in the imperative
  topic: commit messages
  value: Subject lines say what the commit does: 'Add', not 'Added'.
  = Git log entries should be phrased as commands, in the present tense.
  = Write 'Fix bug', not 'Fixed bug', in commits.
preference: Answer in German
  topic: language
  value: Explanations to the user are written in German, code and comments in English.
  = The user prefers replies auf Deutsch, but English in the source.
  = Speak German with me.
  ! Squash commits when merging a pull request.
  ! Prefer interfaces to type aliases in TypeScript.
  ! Do not mock the database in tests; use a real one.
  ! Write comments only where the code cannot speak for itself.
  ! Keep explanations short, without summaries at the end.
  ! Branch names start with the ticket number.
  ! Every change needs two reviewers.
  ! Imports are sorted, with our own modules last.
  ! Test names are sentences that say what is expected.
  ! One commit for each logical change.
  ! Variable names are English and not abbreviated.
  ! Use async/await instead of promise chains in TypeScript.
session_summary: Checkout: split the address form
  goal: Split the address form into shipping and billing.
  outcome: success
  = Separated delivery and invoice addresses in the checkout; done.
  = Billing and shipping address are two forms now.
session_summary: Upgraded React from 17 to 18
  goal: Upgrade React to version 18 and fix hydration warnings.
  outcome: partial
  = Moved the frontend to the new major release of React; some hydration messages are left.
  = React 18 migration, hydration warnings still open.
session_summary: Investigated the memory leak of the worker
  goal: Find out why the mail worker grows to 2 GB.
  outcome: blocked
  = Looked into why the background process for e-mails keeps eating RAM, no fix yet.
  = Mail worker leaks memory up to two gigabytes; cause unknown.
session_summary: Added Apple Pay
  goal: Offer Apple Pay in the payment step.
  outcome: success
  = Customers with iPhones can now pay with their wallet.
  = Integrated Apple Pay as a payment method at checkout.
session_summary: Dark mode for the storefront
  goal: Add a dark colour scheme that follows the system.
  outcome: success
  = Implemented a night theme for the shop's pages.
  = The store has a dark theme that respects the OS setting.
  ! Checkout: added a field for gift messages.
  ! Upgraded TypeScript to 5.4 and fixed the type errors.
  ! Moved the mail worker to its own container.
  ! Added PayPal express buttons to the cart.
  ! Redesigned the storefront's header and footer.
  ! Fixed a race in the inventory counter.
  ! Validated postal codes in the delivery form by country.
  ! Replaced Redux by React Query on the product pages.
  ! Made the background process retry e-mails that bounced.
  ! Customers can now pay by invoice with Klarna.
  ! Made fonts and buttons larger on the shop's pages.
  ! Profiled slow requests of the API; the cause is N+1 queries.
"""

PIPELINE = """
decision: Parquet files partitioned by day
  context: CSV exports had grown too large to scan.
  decision: Events are stored as Parquet, one folder for each day.
  = Raw data is written in a columnar format, split up by date.
decision: Airflow schedules all jobs
  context: Cron jobs on three machines were hard to follow.
  decision: Every recurring job is an Airflow DAG.
  = Recurring pipelines are orchestrated as DAGs instead of crontabs.
decision: Schemas are checked with pandera
  context: Wrong column types broke reports silently.
  decision: Each data frame is validated by a pandera schema when it is loaded.
  = Dataframes get validated for column types on load.
decision: Poetry manages the environment
  context: requirements.txt drifted between developers.
  decision: Dependencies are locked by Poetry.
  = We lock Python packages so that everybody installs the same versions.
  ! Dashboards are built in Metabase.
  ! Events are sent through Kafka before they are stored.
  ! Model artefacts are versioned in MLflow.
  ! Large files of the repository are tracked with git-lfs.
  ! Jobs run on Kubernetes, one pod for each task.
  ! Time stamps are stored in UTC everywhere.
runbook: Backfill a day that failed
  trigger: A DAG run is red for a past date.
  root_cause: The vendor delivered its file late.
  = Rerun the pipeline for an earlier date after the supplier's file has arrived.
runbook: Spark job dies with ExecutorLostFailure
  trigger: ExecutorLostFailure in the join of clicks and users.
  root_cause: Skewed keys put most rows on one executor.
  = Executors get killed in the big join because of data skew; salt the key.
runbook: Disk of the Jupyter host is full
  trigger: Notebooks cannot be saved.
  root_cause: Old checkpoints fill /home.
  = No space left when saving a notebook: delete stale checkpoint files.
  ! The scheduler does not start new tasks: restart it and clear the zombie processes.
  ! Spark cannot read from S3: renew the instance role.
  ! A notebook kernel keeps dying: it needs more memory.
  ! The vendor's file has a new column: add it to the schema and load it again.
constraint: Warehouse queries are billed by bytes
  rule: Every query must filter on the partition column.
  impact: a full scan costs 40 dollars
  = Never query BigQuery without a date filter, scans are expensive.
constraint: Raw events are immutable
  rule: Nothing under raw/ is ever changed or deleted.
  impact: corrections are new files
  = Ingested source data must not be modified afterwards.
constraint: Python 3.9 on the cluster
  rule: Code for Spark must run on Python 3.9.
  impact: no match statements
  = The workers only have an old interpreter, so pattern matching is not available.
  ! Personal columns must be hashed before they are loaded.
  ! Jobs may use at most 64 executors of the cluster.
  ! Reports must be ready by seven in the morning.
  ! Raw files are kept for two years.
tech_debt: Notebooks are copied into production by hand
  description: Scheduled scripts are pasted from notebooks and drift apart.
  = Code from Jupyter is moved into jobs manually and then diverges.
tech_debt: No tests for SQL transformations
  description: SQL models are only checked by looking at dashboards.
  = Queries of the transformation layer are untested.
tech_debt: Credentials of the warehouse are in one shared account
  description: All jobs use the same service account with full rights.
  = Every pipeline logs in with one all-powerful user.
  ! Dashboards query the raw tables directly.
  ! DAGs share one huge Python file.
  ! Secrets are rotated by hand once a year.
  ! Unit tests of the feature code take twenty minutes.
preference: Polars instead of pandas
  topic: data frames
  value: New code uses polars.
  = Write new dataframe code with polars, leave pandas behind.
preference: Plots without chart junk
  topic: charts
  value: No grid, no 3D, direct labels instead of legends.
  = Figures should be minimal and labelled directly.
preference: Docstrings in NumPy style
  topic: docstrings
  value: Parameters and Returns sections as NumPy has them.
  = Document functions in the numpydoc format.
  ! SQL keywords in capitals.
  ! Type hints on all public functions.
  ! Use seaborn's colour-blind palette in figures.
  ! Prefer list comprehensions to map and filter.
session_summary: Moved the churn model to LightGBM
  goal: Replace the random forest of the churn model by LightGBM.
  outcome: success
  = Customer attrition is now predicted by gradient boosting.
session_summary: Cut the nightly load from 4 hours to 50 minutes
  goal: Speed up the nightly load by loading tables in parallel.
  outcome: success
  = The batch at night runs much faster since tables are loaded concurrently.
  ! Tuned the hyperparameters of the recommendation model.
  ! Added an alert for late nightly loads.
  ! Moved the feature store from Redis to Postgres.
  ! Wrote a report on customers who returned.
"""


def memories(project: str) -> list[Known]:
    known: list[Known] = []
    for line in project.strip().split("\n"):
        mark, _, text = line.strip().partition(" ")
        if not line.startswith(" "):
            known.append(Known(mark.rstrip(":"), text, {}, []))
        elif mark == "=":
            known[-1].reworded.append(text)
        elif mark != "!":
            known[-1].content[mark.rstrip(":")] = text
    return known


def other_things(project: str) -> list[str]:
    return [line.strip()[2:] for line in project.split("\n") if line.startswith("  ! ")]


@pytest.fixture
def root(tmp_path: Path) -> MemoryRoot:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".claude" / "memory").mkdir(parents=True)
    return memory_root(str(tmp_path / "shop"), DEFAULTS)


def keep(root: MemoryRoot, category: str, slug: str, title: str, *tags: str, **more: Any) -> Path:
    """Write a memory file as somebody might by hand."""
    path = Path(root.file(category, slug))
    path.parent.mkdir(exist_ok=True)
    times = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z"}
    record = {"schema_version": "1.0", "category": category, "id": slug, "title": title, **times}
    record |= {"tags": list(tags) or ["kept"], "content": {}, **more}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def write_index(root: MemoryRoot, *lines: str) -> None:
    """Have an index that is newer than all files, whatever it says."""
    index = Path(root.index)
    index.write_text("\n".join(["# Memory Index", "", *lines, ""]), encoding="utf-8")
    later = index.stat().st_mtime + 60
    os.utime(index, (later, later))


def found(result: Resolution) -> str:
    return os.path.basename(result.candidate.entry.path) if result.candidate else ""


# What may be done


@pytest.mark.parametrize("category", PROJECT)
@pytest.mark.parametrize("event", ["", *EVENTS])
def test_without_candidate_new_information_is_created_unless_something_ended(category: str, event: str) -> None:
    result = Resolution(category, event, None)
    action = "NOOP" if event else "CREATE"
    assert (result.pre_action, result.structural_cud, result.vetoes) == (action, action, [])
    assert result.hints == ([f"lifecycle_event={event} with no matching candidate; NOOP"] if event else [])


@pytest.mark.parametrize("category", ["runbook", "constraint", "tech_debt"])
@pytest.mark.parametrize("event", ["", "resolved"])
def test_candidate_of_a_category_that_ends_may_be_updated_or_deleted(category: str, event: str) -> None:
    result = Resolution(category, event, Candidate(ENTRY, None, "title_tags", 5))
    assert (result.delete_allowed, result.pre_action, result.structural_cud) == (True, None, "UPDATE_OR_DELETE")
    assert result.vetoes == []
    suggestion = ["lifecycle_event=resolved suggests DELETE if eligible"] if event else []
    assert result.hints == ["1 candidate found (score=5)", *suggestion]


@pytest.mark.parametrize("category", ["decision", "preference", "session_summary"])
@pytest.mark.parametrize("match", ["title_tags", "semantic"])
def test_candidate_of_a_category_that_stays_may_only_be_updated(category: str, match: str) -> None:
    result = Resolution(category, "reversed", Candidate(ENTRY, None, match, 4))
    assert (result.delete_allowed, result.pre_action, result.structural_cud) == (False, None, "UPDATE")
    assert result.vetoes == [f"Cannot DELETE {category} (triage-initiated)"]
    assert result.hints[1:] == ["lifecycle_event=reversed present but DELETE disallowed; consider UPDATE"]


def test_similar_meaning_alone_never_suggests_to_delete() -> None:
    result = Resolution("tech_debt", "", Candidate(ENTRY, None, "semantic", 0.612))
    assert (result.delete_allowed, result.structural_cud) == (False, "UPDATE")
    assert result.vetoes == ["Cannot DELETE tech_debt (semantic match without lifecycle_event)"]
    assert result.hints == ["1 semantic candidate found (score=0.61)"]
    ended = Resolution("tech_debt", "resolved", result.candidate)
    assert (ended.delete_allowed, ended.structural_cud, ended.vetoes) == (True, "UPDATE_OR_DELETE", [])


@pytest.mark.parametrize(("switch", "auto"), [("enabled", False), ("enabled", True), ("auto_capture", True)])
def test_category_that_is_switched_off_allows_nothing(root: MemoryRoot, switch: str, auto: bool) -> None:
    keep(root, "decision", "a", "Login with cookies")
    settings = Settings({f"categories.decision.{switch}": (False, "test")}, [])
    result = resolve(root, settings, "decision", "login cookies", auto=auto)
    assert (result.candidate, result.pre_action, result.structural_cud, result.hints) == (None, "NOOP", "NOOP", [])
    assert len(result.vetoes) == 1
    assert f"categories.decision.{switch} is false" in result.vetoes[0]


def test_capture_that_was_asked_for_is_kept_without_auto_capture(root: MemoryRoot) -> None:
    settings = Settings({"categories.decision.auto_capture": (False, "test")}, [])
    assert resolve(root, settings, "decision", "login cookies").structural_cud == "CREATE"


# By title and tags


def test_highest_score_of_the_category_is_the_candidate(root: MemoryRoot) -> None:
    keep(root, "decision", "a", "Login with cookies")
    keep(root, "decision", "b", "Login with cookies", "login")
    keep(root, "runbook", "c", "Login with cookies fails", "login", "cookies")
    result = resolve(root, DEFAULTS, "decision", "login by cookies")
    assert result.candidate
    assert (result.candidate.entry.path, result.candidate.score) == (".claude/memory/decisions/b.json", 7)


def test_same_score_is_decided_by_path(root: MemoryRoot) -> None:
    for slug in ("c", "a", "b"):
        keep(root, "decision", slug, "Login with cookies")
    assert found(resolve(root, DEFAULTS, "decision", "login by cookies")) == "a.json"


def test_score_below_three_is_no_candidate(root: MemoryRoot) -> None:
    keep(root, "decision", "a", "Login with cookies")
    assert resolve(root, DEFAULTS, "decision", "a login").candidate is None


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_memory_that_is_not_active_is_no_candidate_even_if_the_index_has_it(root: MemoryRoot, status: str) -> None:
    keep(root, "decision", "a", "Login with cookies", record_status=status)
    keep(root, "decision", "b", "Login with cookies")
    lines = [f"- [DECISION] Login with cookies -> .claude/memory/decisions/{slug}.json" for slug in "ab"]
    write_index(root, *lines)
    assert found(resolve(root, DEFAULTS, "decision", "login by cookies")) == "b.json"
    write_index(root, lines[0])
    assert found(resolve(root, DEFAULTS, "decision", "login by cookies")) == "b.json"


def test_document_has_what_an_update_needs(root: MemoryRoot) -> None:
    changes = [{"date": "2026-01-01", "summary": "first"}, {"date": "2026-01-02", "summary": "then"}]
    content = {"context": "c" * 300, "decision": "use cookies", "rationale": ["safe", "simple"], "status": "accepted"}
    path = keep(root, "decision", "a", "Login with cookies", "auth", content=content, changes=changes)
    document = resolve(root, DEFAULTS, "decision", "login by cookies").document()
    assert document["candidate"] == {
        "path": ".claude/memory/decisions/a.json",
        "title": "Login with cookies",
        "tags": ["auth"],
        "excerpt": {
            "title": "Login with cookies",
            "record_status": "active",
            "tags": ["auth"],
            "last_change_summary": "then",
            "key_fields": {"context": "c" * 200, "decision": "use cookies", "rationale": "safe; simple"},
        },
        "hash": md5(path.read_bytes(), usedforsecurity=False).hexdigest(),
        "match": "title_tags",
        "score": 4,
    }


@pytest.mark.parametrize("changes", [None, [], [{"date": "2026-01-01"}], "none", [{"summary": 3}]])
def test_memory_without_history_was_initially_created(root: MemoryRoot, changes: object) -> None:
    keep(root, "decision", "a", "Login with cookies", changes=changes)
    document: Any = resolve(root, DEFAULTS, "decision", "login by cookies").document()
    assert document["candidate"]["excerpt"]["last_change_summary"] == "Initial creation"


def test_excerpt_shows_nothing_unseen_and_nothing_endless(root: MemoryRoot) -> None:
    hidden = "use\u202e\x1b[31m \u200bcookies"
    content = {"context": {"not": "a text"}, "decision": hidden, "rationale": [1, None]}
    keep(root, "decision", "a", "Login cookies " + "x" * 9_000, "\u200bauth", content=content)
    document: Any = resolve(root, DEFAULTS, "decision", "login by cookies").document()
    excerpt = document["candidate"]["excerpt"]
    assert excerpt["key_fields"] == {
        "context": "{'not': 'a text'}",
        "decision": "use[31m cookies",
        "rationale": "1; None",
    }
    assert excerpt["tags"] == document["candidate"]["tags"] == ["auth"]
    assert len(excerpt["title"]) == len(document["candidate"]["title"]) == 120


# The index


def test_root_that_does_not_exist_is_as_good_as_an_empty_one_and_stays_away(tmp_path: Path) -> None:
    root = memory_root(str(tmp_path), DEFAULTS)
    assert resolve(root, DEFAULTS, "decision", "login").structural_cud == "CREATE"
    assert resolve(root, DEFAULTS, "decision", "login", event="removed").structural_cud == "NOOP"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [None, "nonsense", "# Memory Index\n\n- a line that says nothing\n"])
def test_index_that_is_missing_or_broken_is_done_without(root: MemoryRoot, before: str | None) -> None:
    keep(root, "decision", "a", "Login with cookies")
    if before is not None:
        Path(root.index).write_text(before, encoding="utf-8")
    assert found(resolve(root, DEFAULTS, "decision", "login by cookies")) == "a.json"
    assert read_index(root) is None, "a question writes nothing"


def test_index_that_is_older_than_a_file_is_not_believed(root: MemoryRoot) -> None:
    path = keep(root, "decision", "a", "Login with cookies")
    write_index(root)
    later = Path(root.index).stat().st_mtime + 60
    os.utime(path, (later, later))
    assert found(resolve(root, DEFAULTS, "decision", "login by cookies")) == "a.json"


def test_root_that_another_tool_has_locked_is_read_file_by_file(root: MemoryRoot) -> None:
    keep(root, "decision", "a", "Login with cookies")
    keep(root, "decision", "b", "Login with cookies", "login", record_status="retired")
    (Path(root.path) / FOLDER).mkdir()
    result = resolve(root, DEFAULTS, "decision", "login by cookies")
    assert found(result) == "a.json"
    assert result.warnings == []
    assert not os.path.exists(root.index)


def test_index_that_cannot_be_read_is_an_error(root: MemoryRoot) -> None:
    Path(root.index).mkdir()
    with pytest.raises(StorageError, match=r"index\.md is not a regular file; make it readable, or remove it"):
        resolve(root, DEFAULTS, "decision", "login")


def test_many_broken_files_make_few_warnings(root: MemoryRoot) -> None:
    for number in range(30):
        keep(root, "decision", f"broken-{number:02}", "Login").write_text("{", encoding="utf-8")
    warnings = resolve(root, DEFAULTS, "decision", "login by cookies").warnings
    assert len(warnings) == 11
    assert warnings[-1] == "and 20 more of the kind"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.json",
        "/etc/outside.json",
        ".claude/memory/decisions/../../../outside.json",
        ".claude/outside.json",
        ".claude/memory/outside.json",
        ".claude/memory/decisions/deep/outside.json",
        ".claude/memory/decisions/link.json",
        ".claude/memory/runbooks/a.json",
        ".claude/memory/decisions/gone.json",
        ".claude/memory/decisions/\x1b[31m.json",
    ],
)
def test_index_with_a_line_that_leads_elsewhere_is_not_believed(root: MemoryRoot, path: str) -> None:
    keep(root, "decision", "a", "Cookies for all visitors")
    keep(root, "runbook", "a", "Cookies")
    outside = Path(root.project) / "outside.json"
    outside.write_text('{"title": "Cookies"}', encoding="utf-8")
    (Path(root.folder("decision")) / "link.json").symlink_to(outside)
    write_index(root, f"- [DECISION] Cookies for login -> {path} #tags:login")
    result = resolve(root, DEFAULTS, "decision", "cookies for all visitors, by login")
    assert found(result) == "a.json"
    assert all(warning.isprintable() for warning in result.warnings)


def test_candidate_that_cannot_be_read_has_no_excerpt(root: MemoryRoot) -> None:
    keep(root, "decision", "a", "Cookies").write_text("{", encoding="utf-8")
    write_index(root, "- [DECISION] Login with cookies -> .claude/memory/decisions/a.json #tags:auth")
    result = resolve(root, DEFAULTS, "decision", "login by cookies")
    document: Any = result.document()
    assert (document["candidate"]["excerpt"], document["candidate"]["hash"]) == (None, None)
    assert document["structural_cud"] == "UPDATE"
    assert "not valid JSON" in result.warnings[0]


def test_root_below_a_folder_that_is_called_like_a_category_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "decisions" / "memory").mkdir(parents=True)
    root = memory_root_at(str(tmp_path / "decisions" / "memory"), DEFAULTS)
    keep(root, "decision", "a", "Login with cookies")
    result = resolve(root, DEFAULTS, "decision", "login by cookies")
    assert result.candidate
    assert result.candidate.entry.path == "decisions/memory/decisions/a.json"


# By meaning


def open_engine(root: MemoryRoot, settings: Settings = DEFAULTS) -> Engine:
    return Engine(Workspace(root.project, os.path.join(root.project, "..", "store"), settings))


@pytest.fixture
def shop(root: MemoryRoot) -> MemoryRoot:
    for number, known in enumerate(memories(SHOP)):
        keep(root, known.category, f"memory-{number:02}", known.title, content=known.content)
    return root


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, the vectors of a few memories take longer than somebody would wait."""
    monkeypatch.setattr(resolve_module, "_MOMENT", 600.0)


@pytest.mark.usefixtures("patient")
def test_paraphrase_is_found_by_its_meaning(shop: MemoryRoot) -> None:
    text = "A schema change that broke off in the middle: mark it rolled back, then run migrate again."
    result = resolve(shop, DEFAULTS, "runbook", text, open_engine=partial(open_engine, shop))
    document: Any = result.document()
    assert result.warnings == []
    assert document["candidate"]["title"] == "Recover from a failed database migration"
    assert document["candidate"]["match"] == "semantic"
    assert document["candidate"]["score"] == pytest.approx(0.63, abs=0.05)
    assert document["candidate"]["score"] == round(document["candidate"]["score"], 3)
    assert document["structural_cud"] == "UPDATE"


@pytest.mark.usefixtures("patient")
def test_memory_that_was_retired_by_hand_is_not_found_by_its_meaning(shop: MemoryRoot) -> None:
    text = "A schema change that broke off in the middle: mark it rolled back, then run migrate again."
    first = resolve(shop, DEFAULTS, "runbook", text, open_engine=partial(open_engine, shop))
    assert first.candidate
    assert first.candidate.memory
    path = Path(first.candidate.memory.path)
    path.write_text(json.dumps({**first.candidate.memory.record, "record_status": "retired"}), encoding="utf-8")
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    assert resolve(shop, DEFAULTS, "runbook", text, open_engine=partial(open_engine, shop)).candidate is None


@pytest.mark.usefixtures("patient")
def test_other_thing_of_the_category_is_not_found_by_its_meaning(shop: MemoryRoot) -> None:
    result = resolve(
        shop, DEFAULTS, "constraint", "Uploads are limited to 10 MB.", open_engine=partial(open_engine, shop)
    )
    assert (result.structural_cud, result.warnings) == ("CREATE", [])


def never() -> NoReturn:
    pytest.fail("nobody needs the engine here")


def test_engine_is_not_opened_for_what_titles_tell(shop: MemoryRoot) -> None:
    result = resolve(shop, DEFAULTS, "decision", "PostgreSQL for orders", open_engine=never)
    assert result.candidate
    assert result.candidate.match == "title_tags"


def test_engine_is_not_opened_for_an_empty_category(root: MemoryRoot) -> None:
    keep(root, "runbook", "a", "Login with cookies")
    assert resolve(root, DEFAULTS, "decision", "anything", open_engine=never).structural_cud == "CREATE"


@pytest.mark.parametrize("switch", ["memory_semantic_enabled", "memory_embedding_enabled"])
def test_engine_is_not_opened_when_meaning_is_switched_off(shop: MemoryRoot, switch: str) -> None:
    settings = Settings({switch: (False, "test")}, [])
    assert resolve(shop, settings, "decision", "anything", open_engine=never).structural_cud == "CREATE"


def test_store_that_cannot_be_used_leaves_what_titles_tell(shop: MemoryRoot) -> None:
    (Path(shop.project).parent / "store").write_text("no folder", encoding="utf-8")
    result = resolve(shop, DEFAULTS, "decision", "anything", open_engine=partial(open_engine, shop))
    assert result.structural_cud == "CREATE"
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("memories were not compared by meaning: ")


def test_model_whose_scale_is_unknown_is_not_used(shop: MemoryRoot) -> None:
    settings = Settings({"memory_embedding_provider": ("ollama", "test")}, [])
    result = resolve(shop, settings, "decision", "anything", open_engine=partial(open_engine, shop, settings))
    assert result.structural_cud == "CREATE"
    assert "there is no threshold for ollama" in result.warnings[0]


def test_copy_of_the_memory_root_does_not_take_its_place_in_the_store(shop: MemoryRoot) -> None:
    resolve(shop, DEFAULTS, "decision", "anything", open_engine=partial(open_engine, shop))
    copy = memory_root_at(os.path.join(shop.project, "docs", "memory"), DEFAULTS)
    Path(copy.path).mkdir(parents=True)
    keep(copy, "decision", "a", "Login with cookies")
    result = resolve(copy, DEFAULTS, "decision", "anything", open_engine=partial(open_engine, shop))
    assert "the store has only the memories in" in result.warnings[0]
    with open_engine(shop) as engine:
        sources = engine.store.sources(MEMORY, engine.project)
    assert {os.path.dirname(os.path.dirname(path)) for path in sources} == {shop.path}


# The least cosine


def vectors(texts: Iterable[str]) -> Any:
    made = create_embedder("local").embed(list(texts), "document")
    return np.array([np.frombuffer(vector, dtype="<f4") for vector in made])


def cosines(known: Sequence[Known], texts: Iterable[str]) -> Any:
    """A row for each text: its cosine to each memory as the store has it."""
    files = [MemoryFile("a.json", each.category, {"title": each.title, "content": each.content}, "") for each in known]
    return vectors(texts) @ vectors(memory_entry(file, "/home/dev/shop", 0).embedded_text for file in files).T


def is_asked_by_meaning(known: Sequence[Known], category: str, text: str) -> bool:
    wording = Wording(text)
    return all(wording.score(each.title, []) < 3 for each in known if each.category == category)


(LEAST,) = LEAST_COSINE.values()


@pytest.mark.parametrize("project", [SHOP, PIPELINE], ids=["shop", "pipeline"])
def test_no_other_thing_is_near_enough_to_a_memory(project: str) -> None:
    """Of any category: one of a real project holds more memories than one of these."""
    texts = other_things(project)
    nearest = cosines(memories(project), texts).max(axis=1)
    assert len(texts) > 25
    assert [text for text, cosine in zip(texts, nearest, strict=True) if cosine >= LEAST] == []


@pytest.mark.parametrize(("project", "expected"), [(SHOP, 16), (PIPELINE, 3)], ids=["shop", "pipeline"])
def test_paraphrases_find_their_memory_or_none(project: str, expected: int) -> None:
    known = memories(project)
    pairs = [
        (each, text) for each in known for text in each.reworded if is_asked_by_meaning(known, each.category, text)
    ]
    near = cosines(known, [text for _, text in pairs])
    right = wrong = 0
    for (meant, _), row in zip(pairs, near, strict=True):
        found = [each for each, cosine in zip(known, row, strict=True) if cosine >= LEAST]
        of_category = [each for each in found if each.category == meant.category]
        right += meant in of_category
        wrong += len(of_category) - (meant in of_category)
    assert wrong == 0
    assert right >= expected
