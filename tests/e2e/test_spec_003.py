"""The success criteria of the semantic memory (003, phases 3a to 3d), each as a test that carries its number.

3a.3 (nothing on disk) is superseded by the store of phase 3d, the times of 3a.4 and 3d.2 belong to bench/, 3c.3 is what
people say of it, and 3d.3 (another provider) is tests/integration/test_provider_swap.py.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from mcp import ClientSession
from tests.conftest import World
from tests.integration.mcp_server.talk import called, with_client

from recollect.api import Engine, sync
from recollect.config.settings import load_settings
from recollect.doctor.bench import measure_retrieval
from recollect.domain.ranking.order import rank, retention
from recollect.domain.ranking.selection import select_ranked
from recollect.domain.stored import Standing
from recollect.engine.embed import embed_pending
from recollect.recall.search import retrieve, search
from recollect.recall.start_choice import weights_of
from recollect.store.values import Scope


@pytest.fixture
def world(world: World) -> World:
    """A world where the installed command is run, as people run it."""
    return replace(world, forked=False)


@pytest.fixture
def semantic_world(semantic_world: World) -> World:
    """A world where the installed command is run, as people run it."""
    return replace(semantic_world, forked=False)


BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
NOW = "2026-06-01T00:00:00Z"

PARSERS = [
    ("Read real samples", "Read genuine input before you write a parser; invented samples hide half of the cases."),
    ("Line numbers", "A parser that fails must say at which line and column of the file it was."),
    ("Encoding of files", "State the encoding whenever a file is opened for reading, whatever the platform prefers."),
    ("Byte order marks", "Strip a byte order mark while reading, or the first key is never recognised."),
    ("Grammar before code", "Write the grammar down before the parser; ambiguities show on paper first."),
    ("Tolerant reader", "When parsing what others wrote, pass over what is unknown instead of failing."),
    ("Stream large input", "Read large files piece by piece; a parser that loads everything dies on the first export."),
    ("Round trips", "Parsing and printing again must give the same text; test that on real documents."),
    ("Line endings", "Files from other systems end their lines differently; normalise them before parsing."),
    ("Fuzz the tokenizer", "Throw random bytes at the tokenizer, and no file can crash the parser any more."),
]
OTHERS = [
    ("Small commits", "Commit after every green run so that a mistake is cheap to take back."),
    ("Contrast", "Check the contrast of every button against its background."),
    ("Integer cents", "Keep amounts of money in integer cents."),
    ("Drain servers", "Drain connections before a container is replaced."),
    ("Old address", "Tell the old address when somebody changes their e-mail."),
    ("Rotate keys", "Rotate signing keys well before they expire."),
    ("Stale caches", "Give each cached response a time after which it is stale."),
    ("Review fatigue", "After the third review round, talk instead of commenting."),
    ("Feature flags", "Remove a flag once everybody has the new behaviour."),
    ("Index foreign keys", "Index the columns that joins use before a table grows."),
    ("Idempotent jobs", "A job that may run twice must leave the same state as one that ran once."),
    ("Time zones", "Store instants in UTC and convert at the edge."),
    ("Health checks", "A health check must not depend on services that are not its own."),
    ("Back-pressure", "Bound every queue, and decide what happens when it is full."),
    ("Keyboard users", "Every dialogue must be usable without a mouse."),
    ("Retry storms", "Add chance to the pause between attempts, or all clients come back at once."),
    ("Estimates", "Give a range instead of a number when asked how long it takes."),
    ("Secrets in logs", "Mask tokens before anything is logged."),
    ("Pagination", "Page by a stable key, not by an offset."),
    ("Rollback first", "Restore the last good release, then look for the cause."),
]


def write_fixture(world: World, *, prominent: bool = False) -> None:
    """Thirty entries with ten about parsers mixed in; if `prominent`, the other twenty were seen more often."""
    lines: list[str] = []
    for place, (name, text) in enumerate(OTHERS):
        lines += [f"### Pattern: {name}", text, *(["- Observation count: 5", "- Confidence: high"] * prominent), ""]
        if place % 2:
            parser, lesson = PARSERS[place // 2]
            lines += [f"### Pattern: {parser}", lesson, ""]
    world.write_bank("patterns", "\n".join(lines))


def names(block: str) -> list[str]:
    return re.findall(r"^### (?:Anti-Pattern|Heuristic|Pattern): (.+?)(?: \[repository\])?$", block, re.MULTILINE)


def start_feature(world: World, slug: str) -> None:
    folder = world.project / "docs" / "features" / f"024-{slug}"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text(json.dumps({"status": "active", "slug": slug}), encoding="utf-8")


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_3a_1_a_query_about_parsers_surfaces_seven_of_ten_parser_entries(
    semantic_world: World, monkeypatch: pytest.MonkeyPatch, vectors: str
) -> None:
    monkeypatch.setenv("RECOLLECT_MEMORY_EMBEDDING_ENABLED", vectors)
    write_fixture(semantic_world, prominent=True)
    settings = load_settings(str(semantic_world.project))
    with Engine(str(semantic_world.store), settings) as engine:
        assert sync(engine.store, str(semantic_world.project), str(semantic_world.store), engine.labels()) == []
        embed_pending(engine, most=-1)
        scope = Scope(None)

        def top_twenty(query: str | None) -> set[str]:
            result = retrieve(engine, query, scope)
            standings = engine.store.standings(scope)
            ranked = rank(standings, result.vector, result.fts5, weights_of(settings), now=NOW, decay=True)
            return {entry.name for entry in engine.store.entries(item.id for item in select_ranked(ranked, 20))}

        parsers = {name for name, _ in PARSERS}
        assert top_twenty(None) == {name for name, _ in OTHERS}
        assert len(top_twenty("parser file reading") & parsers) >= 7
        found = {hit.entry.name for hit in search(engine, "parser file reading", project=None, limit=20).hits}
        assert len(found & parsers) >= 7


@pytest.mark.parametrize("prominent", [True, False])
def test_3a_1_a_session_about_parsers_is_given_the_parser_entries_by_words_alone(
    semantic_world: World, prominent: bool
) -> None:
    write_fixture(semantic_world, prominent=prominent)
    start_feature(semantic_world, "parser-file-reading")
    block = semantic_world.run("inject", "--limit", "20", **BY_WORDS).stdout
    assert len(set(names(block)) & {name for name, _ in PARSERS}) >= 7


def test_3a_2_without_a_context_it_is_prominence_alone(semantic_world: World) -> None:
    write_fixture(semantic_world, prominent=True)
    variables = {**BY_WORDS, "RECOLLECT_MEMORY_RECALL_TRACKING": "false"}
    without = semantic_world.run("inject", "--limit", "12", **variables).stdout
    start_feature(semantic_world, "parser-file-reading")
    prominent = semantic_world.run(
        "inject", "--limit", "12", RECOLLECT_MEMORY_RELEVANCE_WEIGHT="0.0", **variables
    ).stdout
    assert names(without) == names(prominent)
    assert without.split("\n")[6:] == prominent.split("\n")[6:]
    assert 'context: "none"' in without
    assert 'context: "parser-file-reading' in prominent


def test_3a_4_two_hundred_entries_are_imported_and_ranked_in_one_start(semantic_world: World) -> None:
    lessons = [*distractors(), *PARSERS, *OTHERS][:200]
    assert len(lessons) == 200
    semantic_world.write_bank("patterns", "\n".join(f"### Pattern: {name}\n{text}\n" for name, text in lessons))
    start_feature(semantic_world, "parser-file-reading")
    done = semantic_world.run("inject", "--limit", "20", **BY_WORDS)
    assert done.returncode == 0
    assert "20 entries from 200 | semantic: active (vector=0, fts5=" in done.stdout
    assert len(set(names(done.stdout)) & {name for name, _ in PARSERS}) >= 7


def test_3b_1_every_entry_has_up_to_ten_keyword_labels_and_most_have_three(semantic_world: World) -> None:
    """A retrospective gives three to ten. Rules give fewer where a text has fewer words that tell something."""
    write_fixture(semantic_world)
    query = " ".join(name for name, _ in PARSERS[:8])
    done = semantic_world.run("search", "--json", "--limit", "30", query, **BY_WORDS)
    hits = json.loads(done.stdout)["hits"]
    assert len(hits) >= 8
    assert sum(len(hit["keywords"]) >= 3 for hit in hits) >= len(hits) / 2
    for hit in hits:
        assert 1 <= len(hit["keywords"]) <= 10, hit
        assert all(re.fullmatch("[a-z0-9][a-z0-9-]*", label) for label in hit["keywords"])


@pytest.mark.parametrize("labelled", [True, False])
def test_3b_2_a_keyword_surfaces_what_its_description_does_not(semantic_world: World, labelled: bool) -> None:
    labels = "- Keywords: deserialisation, config-files\n" if labelled else ""
    semantic_world.write_bank("patterns", f"### Pattern: Ask first\nLook at a genuine sample beforehand.\n{labels}")
    for query in ("deserialisation", "config files"):
        done = semantic_world.run("search", "--json", query, **BY_WORDS)
        assert [hit["name"] for hit in json.loads(done.stdout)["hits"]] == (["Ask first"] if labelled else [])


def test_3b_3_each_injection_counts_as_a_recall_and_recalls_slow_the_decay(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", "### Pattern: One\nThe one lesson.\n")
    for _ in range(3):
        assert semantic_world.run("inject", **BY_WORDS).returncode == 0
    done = semantic_world.run("search", "--json", "lesson", **BY_WORDS)
    assert [hit["recall_count"] for hit in json.loads(done.stdout)["hits"]] == [3]
    old = "2025-06-01T00:00:00Z"
    kept = [retention(Standing("x", "patterns", updated_at=old, recall_count=count), NOW) for count in (0, 1, 3, 9)]
    assert kept == sorted(kept)
    assert 0 < kept[0] < kept[-1] < 1


LESSON = {
    "name": "Drain before you replace",
    "description": "Drain open connections before a container is replaced, or requests in flight are lost.",
    "reasoning": "A release lost forty orders.",
    "category": "patterns",
}


def store_in_a_session(world: World, *lessons: dict[str, str]) -> list[str]:
    """Store lessons through the tool of a real server, as a model does in the middle of a session; their ids."""

    async def use(session: ClientSession) -> list[str]:
        answers = [await called(session, "store_memory", **lesson) for lesson in lessons]
        return [fields["id"] for _, fields in answers]

    return with_client(world, use)


def test_3c_1_a_session_stores_a_lesson_that_is_journalled_and_found(semantic_world: World) -> None:
    (id,) = store_in_a_session(semantic_world, LESSON)
    (text,) = (semantic_world.store / "session-captures.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(text)
    assert (line["id"], line["source"], line["source_project"]) == (id, "session-capture", "shop-front")
    assert {key: line[key] for key in LESSON} == LESSON
    assert 3 <= len(line["keywords"]) <= 10
    done = semantic_world.run("search", "--json", "replacing containers", **BY_WORDS)
    assert [hit["id"] for hit in json.loads(done.stdout)["hits"]] == [id]


def test_3c_2_what_sessions_stored_appears_in_the_retrospective_for_promotion_and_deduplication(
    semantic_world: World,
) -> None:
    (semantic_world.project / "deploy.py").write_text("def drain() -> None: ...\n", encoding="utf-8")
    twin = {**LESSON, "name": "Drain, then replace", "description": "Connections are drained first, then replaced."}
    own = {**LESSON, "name": "Time to drain", "description": "deploy.py drains for ten seconds."}
    kept, same, local = store_in_a_session(semantic_world, LESSON, twin, own)

    def shown(*options: str) -> dict[str, dict[str, object]]:
        done = semantic_world.run("promote", "--json", *options, **BY_WORDS)
        assert (done.returncode, done.stderr) == (0, "")
        return {entry["id"]: entry for entry in json.loads(done.stdout)["entries"] if entry["captured"]}

    staged = shown("--dry-run")
    assert set(staged) == {kept, same, local}
    assert staged[kept]["like"] == [{"id": same, "title": "Pattern: Drain, then replace"}]
    assert semantic_world.run("retire", same, **BY_WORDS).returncode == 0
    promoted = shown()
    assert {id: entry["action"] for id, entry in promoted.items()} == {
        kept: "added",
        local: "saved to the project's bank",
    }
    assert LESSON["description"] in (semantic_world.store / "patterns.md").read_text(encoding="utf-8")
    bank = semantic_world.project / "docs" / "knowledge-bank" / "patterns.md"
    assert own["description"] in bank.read_text(encoding="utf-8")
    assert shown("--dry-run") == {}
    done = semantic_world.run("search", "--json", "drain", **BY_WORDS)
    found = {hit["id"]: hit["observation_count"] for hit in json.loads(done.stdout)["hits"]}
    assert found == {kept: 1, local: 1}


# What was learnt, and how somebody asks for it months later.
PAIRS = [
    ("Wait longer after each failed attempt to reach a remote service.", "exponential backoff for flaky APIs"),
    ("Keep amounts of money in integer cents.", "rounding problems with prices"),
    ("Drain open connections before a container is replaced.", "zero downtime rollout"),
    ("Look at genuine documents before writing a grammar.", "building a parser from imagined input"),
    ("Commit after every green run.", "how often should I save my work in git"),
    ("Store instants in UTC and convert them at the edge.", "timezone mistakes in timestamps"),
    ("Index the columns that joins use.", "slow SQL queries on big tables"),
    ("Bound every queue and decide what happens when it is full.", "running out of memory under heavy load"),
    ("Mask tokens before anything is logged.", "credentials leaking into log output"),
    ("Restore the last good release, then look for the cause.", "what to do first in a production outage"),
    ("Every dialogue must be usable without a mouse.", "accessibility for people who navigate by keyboard"),
    ("Remove a flag once everybody has the new behaviour.", "dead toggles pile up"),
    ("Page by a stable key instead of an offset.", "rows skipped or repeated while scrolling through results"),
    ("A job that may run twice must leave the same state as one that ran once.", "duplicate message delivery"),
    ("Give a range when asked how long it takes.", "estimating delivery dates"),
    ("Add chance to the pause between attempts.", "all clients hammer the backend at the same moment"),
    ("Write the failing test before the repair.", "regression coverage for a defect"),
    ("Pin the versions of what you depend on.", "build broke after a library was upgraded upstream"),
    ("Let the compiler reject what must not happen.", "static typing instead of runtime checks"),
    ("Hash passwords with a slow function and a salt.", "storing user credentials safely"),
    ("Escape what comes from users before it is put into a page.", "cross-site scripting"),
    ("Bind values instead of gluing them into statements.", "SQL injection"),
    ("Close what you have opened, also when something is raised.", "file descriptor leak"),
    ("Take locks in the same order everywhere.", "two threads wait for each other forever"),
    ("Measure before you make it faster.", "premature optimisation"),
    ("Ask for the smallest set of rights that does the job.", "over-privileged service account"),
    ("Turn a long function into several with names.", "method is too big to understand"),
    ("Reset shared state between cases.", "flaky suite that depends on execution order"),
    ("Compress pictures before they are served.", "website loads slowly on phones"),
    ("Ship the schema change before the program that needs it.", "database migration without breaking old instances"),
    ("Tell the caller which argument was wrong.", "unhelpful exception messages"),
    ("Read the licence before you copy a snippet.", "legal trouble with open source"),
    ("Record why a choice was made, not only what it was.", "architecture decision rationale is forgotten"),
    ("Expire sessions after a while without use.", "automatic logout for idle users"),
    ("Keep a copy of the data in another building.", "disaster recovery"),
    ("Alert on what users feel, not on what machines do.", "too many meaningless pages at night for on-call"),
    ("Do not name a thing after how it is built.", "good identifiers"),
    ("Ask one question per review comment.", "giving feedback on pull requests"),
    ("Let new colleagues change something small on their first day.", "onboarding engineers"),
    ("Split a request that needs more than one screen to read.", "pull request is too large to review"),
]
IDENTIFIERS = [
    ("Call flush_write_buffer before fsync_directory.", "flush_write_buffer"),
    ("The error E4017 means that the certificate chain is incomplete.", "E4017"),
    ("Set MAX_OPEN_CURSORS below the pool's size.", "MAX_OPEN_CURSORS"),
    ("renderTotalsRow must be called once for each invoice.", "renderTotalsRow"),
    ("src/gateway/retry_policy.py is generated; edit the template.", "retry_policy.py"),
]
SITUATIONS = [
    "When the nightly build fails",
    "If a customer reports a wrong total",
    "Before the database is upgraded",
    "While two teams edit one module",
    "Once the memory of a worker keeps growing",
    "After a release was rolled back",
    "If the login page is slow",
    "When a queue backs up",
    "Before a test is skipped",
    "If a service answers with the wrong status",
    "While files are copied between servers",
    "When users lose their sessions",
    "If an import stops in the middle",
]
ADVICE = [
    "ask who changed the pipeline last.",
    "compare it with last week's export.",
    "tell support what to answer.",
    "agree on one owner for the next days.",
    "take a picture of the heap.",
    "write down the exact minute it began.",
    "look at the slowest tenth, not at the mean.",
    "stop the producers before the consumers.",
    "leave a ticket number beside it.",
    "replay the request with curl.",
    "check sums on both sides.",
    "find out which node served them.",
    "start again from the last complete batch.",
]


def distractors() -> list[tuple[str, str]]:
    """Lessons that share many words with the questions and answer none."""
    return [(f"Note {n}", f"{when}, {do}") for n, (when, do) in enumerate(product(SITUATIONS, ADVICE), 1)] + [
        (f"Remark {n}", f"{do.capitalize().rstrip('.')}: {when[0].lower()}{when[1:]}, nothing else helps.")
        for n, (when, do) in enumerate(zip(SITUATIONS, ADVICE[::-1], strict=True), 1)
    ]


def write_beir(folder: Path, lessons: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    folder.mkdir()
    corpus = [{"_id": f"lesson-{n}", "title": "", "text": text} for n, (text, _) in enumerate(lessons)]
    corpus += [{"_id": f"other-{n}", "title": title, "text": text} for n, (title, text) in enumerate(others)]
    queries = [{"_id": f"query-{n}", "text": query} for n, (_, query) in enumerate(lessons)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judged = "".join(f"query-{n}\tlesson-{n}\t1\n" for n in range(len(lessons)))
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")


def test_3d_1_hybrid_search_beats_full_text_alone_on_known_pairs_among_200_entries(tmp_path: Path) -> None:
    write_beir(tmp_path / "pairs", PAIRS + IDENTIFIERS, distractors())
    result = measure_retrieval([str(tmp_path / "pairs")], load_settings(str(tmp_path)), lambda *_: None)
    assert result.documents >= 200
    assert result.queries == 45
    hybrid, words = result.scores["hybrid"], result.scores["fts5"]
    for metric in ("R@5", "R@10", "nDCG@10", "MRR@10"):
        assert hybrid[metric] > words[metric], (metric, result.scores)
    assert hybrid["R@10"] >= words["R@10"] + 0.2, result.scores


def test_3d_1_an_identifier_is_not_lost_among_meanings(tmp_path: Path) -> None:
    write_beir(tmp_path / "names", IDENTIFIERS, [("", text) for text, _ in PAIRS])
    result = measure_retrieval([str(tmp_path / "names")], load_settings(str(tmp_path)), lambda *_: None)
    assert result.scores["hybrid"]["MRR@10"] == result.scores["fts5"]["MRR@10"] == 1.0


def test_overall_a_session_with_an_active_feature_has_entries_that_match_it(semantic_world: World) -> None:
    write_fixture(semantic_world)
    start_feature(semantic_world, "rotate-signing-keys")
    line = semantic_world.run("inject", "--limit", "3", **BY_WORDS).stdout.split("\n")[5]
    matched = re.search(r"fts5=(\d+)", line)
    assert matched
    assert int(matched[1]) > 0


def test_3d_1_the_measurement_can_be_repeated_by_anybody(world: World, tmp_path: Path) -> None:
    for name, lessons in (("names", IDENTIFIERS), ("pairs", PAIRS[:5])):
        write_beir(tmp_path / name, lessons, [])
    folders = (str(tmp_path / "names"), str(tmp_path / "pairs"))
    result = json.loads(world.run("bench", "retrieval", *folders, "--json").stdout)
    metrics = {"R@5", "R@10", "R@20", "R@50", "hit@5", "hit@10", "nDCG@10", "MRR@10"}
    for system in ("hybrid", "fts5", "vector"):
        assert set(result[system]) >= metrics
        assert all(0 <= value <= 1 for value in result[system].values())
    assert result["hybrid"]["R@5"] == 1.0  # each folder is searched by itself, and has five documents
    assert result["queries"] == 10
    wrong = world.run("bench", "retrieval", str(tmp_path))
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "corpus.jsonl" in wrong.stderr
    assert not world.store.exists()
