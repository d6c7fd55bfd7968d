"""Everything that writes, as scenes: a world with something in each of its files, and one command or hook in it."""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import World, days_ago
from tests.earlier import row, write_earlier
from tests.faults.injector import Injector, Outcome

from recollect.domain.hashing import content_hash

SESSION = str(uuid.uuid4())
EXPORT = ("export", "--include-retired")

LESSON = {
    "name": "Retry with jitter",
    "description": "Retries without jitter arrive together and overload the gateway again.",
    "category": "anti-patterns",
    "keywords": ["retries"],
}
OLD_LESSON = {**LESSON, "name": "Close what you open", "description": "A handle that is left open outlives the test."}
RETIRED_LESSON = {**LESSON, "name": "Cache everything", "description": "Whatever is cached is never asked for again."}
DECISION = {
    "title": "SQLite holds the carts",
    "tags": ["storage", "carts"],
    "content": {"status": "accepted", "context": "c", "decision": "Carts live in SQLite.", "rationale": ["One file"]},
}
SAID = (
    "We decided to use SQLite because it needs no server.\n"
    "We chose WAL rather than a rollback journal because readers never wait."
)
SAID_EARLIER = (
    "From now on always use tabs, consistently.\nPlease never use spaces, that is the convention going forward."
)
COMPACTED = """1. Primary Request and Intent:
   The user asked to move the carts to SQLite.

7. Pending Tasks:
   - Remove the old tables

8. Current Work:
   The importer writes both.
"""
BANK = """# Patterns

### Pattern: Say what failed
An error names what failed and what to do next.
- Observation count: 3
- Confidence: high

### Pattern: Carts in src/cart.py
The cart of shop-front is kept by src/cart.py alone.
- Observation count: 1
- Confidence: low
"""
SHARED = """# Heuristics

### Heuristic: Measure first
What was not measured is not slow.
- Observation count: 2
- Confidence: medium
"""


@dataclass(frozen=True, eq=False)
class Scene:
    """A command in a world: what it is given, what has to be there before it, and where its effect is seen."""

    name: str
    arguments: tuple[str, ...]
    stdin: str = ""
    prepare: Callable[[World], None] = lambda _world: None
    probes: tuple[tuple[str, ...], ...] = (EXPORT,)
    variables: dict[str, str] = field(default_factory=dict[str, str])
    counts_again: bool = False  # after a kill between its steps, the same command stores the memory once more
    between: tuple[str, ...] = ()  # parts of the paths of files that may also be something between old and new

    @property
    def is_hook(self) -> bool:
        return self.arguments[0] == "hook"


class Stage:
    """One place where scenes are played: before each, the world is as it was made."""

    def __init__(self, folder: Path, injector: Injector) -> None:
        self.world = World(folder / "home", folder / "home" / "shop-front", folder / "home" / "store", semantic=True)
        self._injector = injector
        self._template = folder / "template"
        _build(self)
        (self.world.home / "tmp").mkdir(exist_ok=True)
        self.world.home.rename(self._template)

    def reset(self, scene: Scene) -> None:
        shutil.rmtree(self.world.home, ignore_errors=True)
        shutil.copytree(self._template, self.world.home, symlinks=True)
        remove_contexts()
        scene.prepare(self.world)

    def play(self, scene: Scene, fault: str = "", at: int = 0) -> Outcome:
        return self.run(scene.arguments, scene.stdin, fault=fault, at=at, variables=scene.variables)

    def run(
        self,
        arguments: Sequence[str],
        stdin: str = "",
        *,
        fault: str = "",
        at: int = 0,
        clock: float = 0.0,
        variables: dict[str, str] | None = None,
    ) -> Outcome:
        return self._injector.run(
            [each.replace("{home}", str(self.world.home)) for each in arguments],
            cwd=self.world.project,
            environment=self.environment(variables),
            stdin=stdin.replace("{home}", str(self.world.home)),
            fault=fault,
            at=at,
            clock=clock,
        )

    def environment(self, variables: dict[str, str] | None = None) -> dict[str, str]:
        words = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "TMPDIR": str(self.world.home / "tmp")}
        return self.world.environment({**words, **(variables or {})})


def entry(lesson: dict[str, Any]) -> tuple[str, ...]:
    return ("upsert", "--entry-json", json.dumps(lesson))


def hook(name: str, session: str = SESSION, **fields: Any) -> str:
    event = {
        "session_id": session,
        "transcript_path": f"{{home}}/.claude/projects/shop/{session}.jsonl",
        "cwd": "{home}/shop-front",
        "hook_event_name": name,
    }
    return json.dumps({**event, **fields})


def remove_contexts() -> None:
    """Remove what held stops of our session have left for agents, which is not in the world."""
    for path in Path("/tmp").glob(".memory-triage-context-*"):
        with suppress(FileNotFoundError):  # other tests remove theirs
            if not path.is_symlink() and f"Session: {SESSION}\n" in path.read_text(encoding="utf-8", errors="replace"):
                path.unlink()


def _build(stage: Stage) -> None:
    world = stage.world
    (world.project / ".git").mkdir(parents=True)
    world.store.mkdir(mode=0o700)
    world.write_bank("patterns", BANK)
    world.write_bank("heuristics", SHARED, shared=True)
    world.write_decision("refresh-token-cookie", title="Refresh token in an httpOnly cookie", tags=["auth", "cookies"])
    world.write_decision("retired-now", record_status="retired", retired_at=days_ago(1), retired_reason="r")
    world.write_decision("retired-long-ago", record_status="retired", retired_at=days_ago(90), retired_reason="r")
    world.write_decision("in-the-archive", record_status="archived", archived_at=days_ago(1), archived_reason="r")
    (world.project / ".cursor").mkdir()
    servers = '{\n  "mcpServers": {\n    "other": { "command": "other" }\n  }\n}\n'
    (world.project / ".cursor" / "mcp.json").write_text(servers, encoding="utf-8")
    for session, said in ((SESSION, SAID), ("earlier", SAID_EARLIER)):
        transcript = world.home / ".claude" / "projects" / "shop" / f"{session}.jsonl"
        transcript.parent.mkdir(parents=True, exist_ok=True)
        message = {"id": "1", "role": "user", "content": said}
        line = json.dumps({"isSidechain": False, "type": "user", "message": message})
        transcript.write_text(line + "\n", encoding="utf-8")
    (world.home / "tmp").mkdir()
    stop = hook("Stop", "earlier", stop_hook_active=False, last_assistant_message="Done.")
    _must(stage, ("index", "--rebuild"))
    _must(stage, entry(OLD_LESSON))
    _must(stage, entry(RETIRED_LESSON))
    _must(stage, ("retire", content_hash(RETIRED_LESSON["description"])))
    _must(stage, ("config", "set", "memory_injection_limit", "7"))
    _must(stage, ("config", "set", "delete.grace_period_days", "30"))
    _must(stage, ("hook", "stop"), stop, {"RECOLLECT_TRIAGE_MODE": "stage"})
    _must(stage, ("backup", "create", str(world.home / "backup.tar.gz")))
    _must(stage, ("status",))


def _must(stage: Stage, arguments: tuple[str, ...], stdin: str = "", variables: dict[str, str] | None = None) -> None:
    done = stage.run(arguments, stdin, variables=variables)
    assert done.code == 0, (arguments, done.code, done.stderr)


def _lose(world: World) -> None:
    """Lose some of what the backup has."""
    (world.project / ".claude" / "memory" / "decisions" / "refresh-token-cookie.json").unlink()
    (world.project / "docs" / "knowledge-bank" / "patterns.md").unlink()
    (world.store / "session-captures.jsonl").unlink()


def _write_edit(world: World) -> None:
    from recollect.files.memory.memories import read_memory
    from recollect.memories.edit_form import form_of

    path = world.project / ".claude" / "memory" / "decisions" / "refresh-token-cookie.json"
    text = form_of(read_memory(str(path), "decision"))
    (world.home / "edited.toml").write_text(re.sub('"d"', '"Cookies, and nothing else."', text), encoding="utf-8")


def _stage(world: World) -> None:
    """Stage a capture with a known id."""
    about = {"project": str(world.project), "session": "s", "category": "tech_debt", "score": 0.5, "context": "c"}
    line = {"staged": "aa11bb22", "at": days_ago(0), **about, "snippets": ["The worker loads everything for now."]}
    with (world.store / "session-captures.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _write_badly(world: World) -> None:
    """Write a memory as a file tool would, past all checks."""
    world.write_decision("by-hand", content={"status": "nonsense"})


def _write_beir(world: World) -> None:
    """Write the smallest set of documents and questions that retrieval can be measured with."""
    folder = world.home / "beir"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "a text"}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "text"}\n', encoding="utf-8")
    (folder / "qrels.tsv").write_text("q\td\t1\n", encoding="utf-8")


def _write_lessons(world: World) -> None:
    (world.home / "lessons.txt").write_text("- Close what you open.\n- Say what failed, and where.\n", encoding="utf-8")


def _without_store(world: World) -> None:
    shutil.rmtree(world.store)


def _three_versions(world: World) -> None:
    """Write the versions of a memory that git hands to the merge driver."""
    path = world.project / ".claude" / "memory" / "decisions" / f"{_COOKIE}.json"
    base = path.read_text(encoding="utf-8")
    versions = {"base": base, "ours": base.replace("httpOnly", "secure"), "theirs": base.replace("auth", "login")}
    for name, text in versions.items():
        (world.home / f"{name}.json").write_text(text, encoding="utf-8")


def _earlier(world: World) -> None:
    """Put a database of the memory system before recollect in the place of the store's."""
    for path in world.store.glob("memory.db*"):
        path.unlink()
    rows = [row(f"Lesson {number}", f"What lesson number {number} has taught us.") for number in range(3)]
    write_earlier(world.store / "memory.db", rows)


def _registered(world: World) -> None:
    path = world.project / ".cursor" / "mcp.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["mcpServers"]["recollect"] = {"command": "/bin/recollect", "args": ["mcp"]}
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")


def _calls(*calls: tuple[str, dict[str, Any]]) -> str:
    """Return what a client sends to an MCP server."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (tool, arguments) in enumerate(calls, 1):
        called = {"name": tool, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": called})
    return "".join(json.dumps(message) + "\n" for message in messages)


def _write(action: str, slug: str, **given: Any) -> tuple[str, ...]:
    return ("write", "--action", action, "--target", f"decisions/{slug}.json", *given)


def _mark(kind: str) -> Callable[[World], None]:
    """Return what mutes or pins a memory."""

    def mark(world: World) -> None:
        from recollect.domain.stored import Mark
        from recollect.files.journal.kinds import MARK
        from recollect.files.journal.log import append_lines
        from recollect.sync.memories import entry_id

        project = str(world.project)
        line = Mark(entry_id(project, "decision", _COOKIE), kind, project, at=days_ago(1))
        append_lines(str(world.store / "session-captures.jsonl"), MARK, [line])

    return mark


def _twins(world: World) -> None:
    """Write a lesson and a memory once more, in another dress."""
    bank = world.project / "docs" / "knowledge-bank" / "patterns.md"
    twin = "### Pattern: Say what failed\nAn error names *what failed* and what to do next\n- Observation count: 1\n"
    bank.write_text(f"{bank.read_text(encoding='utf-8')}\n{twin}", encoding="utf-8")
    path = world.project / ".claude" / "memory" / "decisions" / f"{_COOKIE}.json"
    record = {**json.loads(path.read_text(encoding="utf-8")), "id": "twin-of-cookie", "created_at": days_ago(0)}
    path.with_name("twin-of-cookie.json").write_text(json.dumps(record), encoding="utf-8")


def _merged(world: World) -> None:
    """Merge a lesson into another one."""
    from recollect.domain.stored import MERGED, Relation, Retirement
    from recollect.files.journal.kinds import RELATION, RETIREMENT
    from recollect.files.journal.log import append_lines

    journal, gone = str(world.store / "session-captures.jsonl"), content_hash(OLD_LESSON["description"])
    append_lines(journal, RELATION, [Relation(_SAID_WHAT_FAILED, gone, MERGED, at=days_ago(1))])
    append_lines(journal, RETIREMENT, [Retirement(gone, "", at=days_ago(1), reason="merged into it")])


def _change_file(world: World) -> None:
    """Let a file of a memory and of a lesson be another one than they were stored for."""
    from recollect.domain.stored import Anchor, Anchored
    from recollect.files.journal.kinds import ANCHORED
    from recollect.files.journal.log import append_lines

    (world.project / "auth.py").write_text("x = 2\n", encoding="utf-8")
    anchor = Anchor("auth.py", "0123456789abcdef", "", "2026-11-02")
    path = world.project / ".claude" / "memory" / "decisions" / f"{_COOKIE}.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record |= {"related_files": ["auth.py"], "anchors": [anchor.record]}
    path.write_text(json.dumps(record), encoding="utf-8")
    line = Anchored(content_hash(OLD_LESSON["description"]), str(world.project), [anchor], at=days_ago(1))
    append_lines(str(world.store / "session-captures.jsonl"), ANCHORED, [line])


def _join_team(world: World) -> None:
    """Let a team be joined, with a lesson that another member has shared, and one of the user that is not sent yet."""
    from recollect.config import locations
    from recollect.domain.shared.line_ids import line_id
    from recollect.domain.shared.lines import TeamLine
    from recollect.files.team.lines import append_pulled
    from recollect.files.team.state import JoinedScope, TeamState, change_state
    from recollect.team.joined import this_host

    store = str(world.store)
    scopes = {"team:backend": JoinedScope("curator"), "project:shop": JoinedScope("writer")}
    state = TeamState("postgresql://ann@127.0.0.1:1/nothing", "ann", "abcdef01", this_host(), scopes=scopes)
    change_state(locations.team_state(store), locations.team_folder(store), lambda _: (state, None))
    entry = {"name": "Jitter", "description": _TEAMS, "category": "patterns"}
    for scope, author in (("team:backend", "bob"), ("project:shop", "ann")):
        body = {"shared": content_hash(_TEAMS), "entry": entry}
        line = TeamLine(line_id(1_790_000_000_000, 0, "abcdef02"), body, seq=1, author=author, role="writer")
        append_pulled(locations.team_lines(store, scope), [line])


_TEAMS = "Retries without jitter overload the gateway."
_REVIEW = ("review", "--json")
_STALE = ("stale", "--json")
_MUTED = ("list", "--muted", "--json")
_WHY = ("why", "refresh-token-cookie", "--json")
_COOKIE = "refresh-token-cookie"
_SAID_WHAT_FAILED = content_hash("An error names what failed and what to do next.")
_CHANGED = {
    **DECISION,
    "title": "Refresh token in an httpOnly cookie",
    "tags": ["auth", "cookies", "storage"],
    "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r", "and one more"]},
    "changes": [{"date": days_ago(0), "summary": "One reason more"}],
}
_NOTE = {**{key: LESSON[key] for key in ("name", "description", "category")}, "reasoning": "It took us down."}
_DEBT = {"name": "Slow start of the worker", "description": "The worker loads everything.", "category": "tech_debt"}

SCENES = (
    Scene("upsert", entry(LESSON)),
    Scene("upsert again", entry(OLD_LESSON)),
    Scene("upsert first", entry(LESSON), prepare=_without_store),
    Scene("upsert file", ("upsert", "--entry-file", "-"), json.dumps([LESSON, OLD_LESSON])),
    Scene(
        "write create", ("write", "--action", "create", "--category", "decision", "--input", "-"), json.dumps(DECISION)
    ),
    Scene("write update", (*_write("update", _COOKIE), "--input", "-"), json.dumps(_CHANGED)),
    Scene("add lesson", ("add", "anti-patterns", LESSON["description"], "--why", "It took us down.")),
    Scene("add memory", ("add", "The worker loads everything for now.", "--tag", "start")),
    Scene("write delete", _write("delete", _COOKIE)),
    Scene("write archive", _write("archive", _COOKIE)),
    Scene("write unarchive", _write("unarchive", "in-the-archive")),
    Scene("write restore", _write("restore", "retired-now")),
    Scene("edit", ("edit", _COOKIE, "--from", "{home}/edited.toml", "--no-editor"), prepare=_write_edit),
    Scene("retire memory", ("retire", _COOKIE)),
    Scene("retire lesson", ("retire", content_hash(OLD_LESSON["description"]))),
    Scene("restore memory", ("restore", "retired-now")),
    Scene("restore lesson", ("restore", content_hash(RETIRED_LESSON["description"]))),
    Scene("archive", ("archive", _COOKIE)),
    Scene("trust", ("trust",), probes=(EXPORT, ("status", "--json"))),
    Scene("mute memory", ("mute", _COOKIE)),
    Scene("mute lesson", ("mute", content_hash(OLD_LESSON["description"]), "--everywhere"), probes=(EXPORT, _MUTED)),
    Scene("unmute", ("unmute", _COOKIE), prepare=_mark("muted"), probes=(EXPORT, _MUTED)),
    Scene("confirm memory", ("confirm", _COOKIE), prepare=_change_file, probes=(EXPORT, _STALE)),
    Scene(
        "confirm lesson",
        ("confirm", content_hash(OLD_LESSON["description"])),
        prepare=_change_file,
        probes=(EXPORT, _STALE),
    ),
    Scene("stale", _STALE, prepare=_change_file),
    Scene("pin", ("pin", _COOKIE), probes=(EXPORT, _WHY)),
    Scene("unpin", ("unpin", _COOKIE), prepare=_mark("pinned"), probes=(EXPORT, _WHY)),
    Scene("dedupe", ("dedupe",), prepare=_twins, between=("index.md",)),
    Scene("dedupe dry", ("dedupe", "--dry-run"), prepare=_twins),
    Scene("index gc dry", ("index", "--gc", "--dry-run")),
    Scene(
        "dedupe merge",
        ("dedupe", "--merge", _SAID_WHAT_FAILED, content_hash(OLD_LESSON["description"])),
    ),
    Scene(
        "dedupe supersede",
        ("dedupe", "--supersede", _COOKIE, "twin-of-cookie"),
        prepare=_twins,
        between=("index.md",),
    ),
    Scene(
        "dedupe keep both",
        ("dedupe", "--keep-both", _SAID_WHAT_FAILED, content_hash(OLD_LESSON["description"])),
    ),
    Scene(
        "dedupe undo",
        ("dedupe", "--undo", content_hash(OLD_LESSON["description"])),
        prepare=_merged,
    ),
    Scene("triggers of memory", ("triggers", _COOKIE, "where people stay signed in", "stolen credentials")),
    Scene("triggers of lesson", ("triggers", _SAID_WHAT_FAILED, "writing a message for users")),
    Scene("promote", ("promote",)),
    Scene(
        "import",
        ("import", "{home}/lessons.txt", "--category", "patterns", "--yes"),
        prepare=_write_lessons,
    ),
    Scene("index rebuild", ("index", "--rebuild")),
    Scene(
        "merge-driver",
        ("merge-driver", "{home}/base.json", "{home}/ours.json", "{home}/theirs.json"),
        prepare=_three_versions,
    ),
    Scene("index gc", ("index", "--gc")),
    Scene("rebuild", ("rebuild",)),
    Scene("store copy", ("store", "copy", "here", "sqlite:{home}/copy")),
    Scene("rebuild first", ("rebuild",), prepare=_without_store),
    Scene("rebuild earlier", ("rebuild",), prepare=_earlier),
    Scene("reembed", ("reembed",)),
    Scene("config set local", ("config", "set", "memory_injection_limit", "9"), probes=(("config", "--json"),)),
    Scene("config set shared", ("config", "set", "delete.grace_period_days", "9"), probes=(("config", "--json"),)),
    Scene("config unset", ("config", "unset", "memory_injection_limit"), probes=(("config", "--json"),)),
    Scene("review dismiss", ("review", "--dismiss-all"), probes=(EXPORT, _REVIEW)),
    Scene(
        "review accept",
        ("review", "--accept", "aa11bb22"),
        prepare=_stage,
        probes=(EXPORT, _REVIEW),
        counts_again=True,
    ),
    Scene("export", ("export", "--output", "{home}/export.jsonl", "--force")),
    Scene("backup create", ("backup", "create", "{home}/new.tar.gz", "--force")),
    Scene("backup restore", ("backup", "restore", "{home}/backup.tar.gz"), prepare=_lose, probes=(EXPORT, _REVIEW)),
    Scene("init", ("init", "--client", "cursor")),
    Scene("uninstall", ("uninstall", "--yes"), prepare=_registered),
    Scene(
        "promote to a team",
        ("promote", "--to", "team:backend", content_hash(OLD_LESSON["description"])),
        prepare=_join_team,
        between=("team.json",),  # it has the ids that were given last
    ),
    Scene(
        "retire for a team",
        ("retire", content_hash(_TEAMS), "--to", "team:backend"),
        prepare=_join_team,
        between=("team.json",),
    ),
    Scene("team link", ("team", "link", "project:shop"), prepare=_join_team),
    Scene("team leave", ("team", "leave", "--force"), prepare=_join_team, between=("team/.sync",)),
    Scene("team sync", ("team", "sync"), prepare=_join_team, between=("team.json",)),
    Scene("triggers missing", ("triggers", "--missing")),
    Scene("list", ("list",)),
    Scene("search", ("search", "refresh token cookie")),
    Scene("inject", ("inject",)),
    Scene("inject preview", ("inject", "--preview")),
    Scene("why", ("why", _COOKIE)),
    Scene("stats", ("stats",)),
    Scene("try", ("try", "should the refresh token be in a cookie?")),
    Scene("show in a session", ("show", "refresh-token-cookie"), variables={"CLAUDE_CODE_SESSION_ID": SESSION}),
    Scene("status", ("status",)),
    Scene("hook session-start", ("hook", "session-start"), hook("SessionStart", source="startup")),
    Scene(
        "hook session-start earlier",
        ("hook", "session-start"),
        hook("SessionStart", source="startup"),
        prepare=_earlier,
        between=(".met",),  # it notes two things that the user was told, one by one
    ),
    Scene(
        "hook prompt", ("hook", "prompt"), hook("UserPromptSubmit", prompt="should the refresh token be in a cookie?")
    ),
    Scene("hook stop held", ("hook", "stop"), hook("Stop", stop_hook_active=False, last_assistant_message="Done.")),
    Scene(
        "hook stop staged",
        ("hook", "stop"),
        hook("Stop", stop_hook_active=False, last_assistant_message="Done."),
        probes=(EXPORT, _REVIEW),
        variables={"RECOLLECT_TRIAGE_MODE": "stage"},
    ),
    Scene("hook compacted", ("hook", "compacted"), hook("PostCompact", trigger="auto", compact_summary=COMPACTED)),
    Scene(
        "hook write-check",
        ("hook", "write-check"),
        hook(
            "PostToolUse",
            tool_name="Write",
            tool_input={"file_path": "{home}/shop-front/.claude/memory/decisions/by-hand.json", "content": "x"},
        ),
        prepare=_write_badly,
        between=("index.md", ".invalid."),  # the index of what could not be put aside; an empty file that takes a name
    ),
    Scene("mcp store lesson", ("mcp",), _calls(("store_memory", _NOTE))),
    Scene("mcp store memory", ("mcp",), _calls(("store_memory", {**_DEBT, "reasoning": "There was no time."}))),
    Scene(
        "mcp store superseding",
        ("mcp",),
        _calls(("store_memory", {**_DEBT, "reasoning": "There was no time.", "supersedes": _COOKIE})),
        between=("index.md",),  # the index while both are active
    ),
    Scene(
        "mcp forget",
        ("mcp",),
        _calls(("forget_memory", {"id": content_hash(OLD_LESSON["description"]), "reason": "wrong"})),
    ),
)

# What only looks.
READING = (
    Scene("candidate", ("candidate", "--category", "decision", "--new-info", "Refresh token in a cookie")),
    Scene("triggers", ("triggers", _COOKIE)),
    Scene("show", ("show", _COOKIE)),
    Scene("schema", ("schema", "decision")),
    Scene("config", ("config",)),
    Scene("config get", ("config", "get", "memory_injection_limit")),
    Scene("review", ("review",)),
    Scene("promote dry", ("promote", "--dry-run")),
    Scene("index validate", ("index", "--validate")),
    Scene("check", ("check",)),
    Scene("index health", ("index", "--health")),
    Scene("index query", ("index", "--query", "cookie")),
    Scene("store copy dry", ("store", "copy", "here", "sqlite:{home}/copy", "--dry-run")),
    Scene("backup verify", ("backup", "verify", "{home}/backup.tar.gz")),
    Scene("backup restore dry", ("backup", "restore", "{home}/backup.tar.gz", "--dry-run"), prepare=_lose),
    Scene("init dry", ("init", "--client", "cursor", "--dry-run")),
    Scene("inject hook", ("inject", "--print-hook")),
    Scene("log", ("log",)),
    # Its server runs as long as a page is open; what pages change goes through the use cases of the commands above.
    Scene("ui", ("ui", "--help")),
    Scene(
        "write check",
        ("write", "--action", "create", "--category", "decision", "--input", "-", "--check"),
        json.dumps(DECISION),
    ),
    Scene("doctor", ("doctor",)),
    Scene("bench", ("bench", "retrieval", "{home}/beir"), prepare=_write_beir),
    Scene(
        "hook permit",
        ("hook", "permit"),
        hook("PreToolUse", tool_name="mcp__plugin_memory_recollect__store_memory", tool_input={}),
    ),
    Scene(
        "hook write-guard",
        ("hook", "write-guard"),
        hook("PreToolUse", tool_name="Write", tool_input={"file_path": "{home}/shop-front/.claude/memory/index.md"}),
    ),
)
