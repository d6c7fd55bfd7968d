"""What recollect does, shown on a sample project: python examples/demo.py

Everything happens in a temporary folder with a global store of its own; nothing of yours is read or changed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.cli.screen import width_of
from recollect.cli.wrap import wrapped

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample-project")
WIDEST_STORY = 110
RECOLLECT = os.path.join(os.path.dirname(sys.executable), "recollect")

# What each commit of the sample's history adds, the oldest first.
HISTORY = (
    ("2026-09-02", "Start the service", ("README.md", "pyproject.toml", "src/parcel_tracker/__init__.py", "config")),
    ("2026-09-16", "Poll carriers with retries", ("src/parcel_tracker/carriers.py", "src/parcel_tracker/retry.py")),
    (
        "2026-10-05",
        "Keep events in SQLite (feature 009)",
        ("src/parcel_tracker/store.py", "docs/features/009-event-store"),
    ),
    ("2026-10-21", "Serve the API, dispatch webhooks", ("src", "tests")),
    ("2026-10-28", "Specify webhook retries (feature 012)", ("docs/features/012-webhook-retries",)),
    ("2026-11-10", "Write down what we learned", (".",)),
)

OTHER_LESSON = """# Anti-Patterns

## Known Anti-Patterns

### Anti-Pattern: Thundering Retries
Clients that failed together retry together. A fixed or purely exponential schedule keeps them in
step, so each round lands on the recovering service as one spike and knocks it over again. Doubling
the delay only moves the spikes apart; it takes randomness to flatten them.
- Observed in: Feature #003
"""


@dataclass(frozen=True)
class Scene:
    """One command of the demo: why it is run, where, and how much of its output is worth a look."""

    story: str
    folder: str
    arguments: tuple[str, ...]
    head: int = 100
    tail: int = 0
    learned: str = ""  # what the project's anti-patterns.md says from now on
    sent: str = ""  # what it is given on standard input
    sent_as: str = ""  # what that is called on the command line
    said: str = ""  # what the session's transcript says from now on


CAPTURE = (
    '{"name": "Pin the Base Image by Digest", "category": "patterns", "description": "A tag moves: the same Dockerfile'
    ' gives another image tomorrow. A digest makes a build repeatable, and an update a change that is reviewed."}'
)

DECISION = """{
  "title": "Events live in SQLite", "tags": ["storage", "events"],
  "content": {"status": "accepted", "context": "One host polls all carriers and writes every event",
              "decision": "Keep events in one SQLite file in WAL mode", "rationale": ["no server to run or to back up"]}
}"""

PROMPT = '{"session_id": "demo", "prompt": "can we move the carrier events out of SQLite to another database?"}'

CHARGED_TWICE = '{"session_id": "demo", "prompt": "customer was charged twice, what can we do?"}'

_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "demo", "version": "1"},
}
_LIMIT = {
    "category": "constraint",
    "name": "Carrier A allows ten requests a second",
    "description": "Above ten requests a second carrier A answers with 429 and blocks us for a minute.",
    "reasoning": "Measured on 2026-11-12, and confirmed by their support.",
    "references": ["src/parcel_tracker/carriers.py"],
    "triggers": ["fetch shipment updates more often", "too many calls to a delivery company"],
}
_QUESTION = {"query": "how many requests a second does carrier A allow", "limit": 1}


def _message(method: str, parameters: dict[str, object], id: int = 0) -> str:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": parameters}
    return json.dumps({**message, "id": id} if id else message) + "\n"


# What an MCP client says: who it is, and two calls of its model.
CALLS = (
    _message("initialize", _HELLO, 1)
    + _message("notifications/initialized", {})
    + _message("tools/call", {"name": "store_memory", "arguments": _LIMIT}, 2)
    + _message("tools/call", {"name": "search_memory", "arguments": _QUESTION}, 3)
)

SCENES = (
    Scene(
        "parcel-tracker has 30 lessons in docs/knowledge-bank/. A session there starts with those that matter now: "
        "feature 012 is active, and the last commits are about webhooks. The first start finds by words, and makes "
        "the vectors afterwards:",
        "parcel-tracker",
        ("inject",),
        head=16,
    ),
    Scene(
        "Search finds lessons in any words:",
        "parcel-tracker",
        ("search", "everybody came back at once and the server fell over again", "--limit", "2", "--explain"),
    ),
    Scene(
        "Lessons that hold everywhere are promoted to the global bank. A lesson that names this project, its files, "
        "classes or services stays:",
        "parcel-tracker",
        ("promote",),
        head=4,
        tail=7,
    ),
    Scene(
        "A new project, without any lessons of its own, starts with those of the other one:",
        "billing-api",
        ("inject", "--limit", "3"),
        head=15,
    ),
    Scene(
        "Later billing-api learns one of those lessons the hard way. Promoting it stores nothing twice: the lesson "
        "gains an observation, and ranks higher from now on:",
        "billing-api",
        ("promote",),
        learned=OTHER_LESSON,
    ),
    Scene(
        "In the middle of its work, an agent stores a lesson in one call, and finds it again:",
        "billing-api",
        ("upsert", "--entry-json", CAPTURE),
    ),
    Scene("", "parcel-tracker", ("search", "docker builds differ from day to day", "--limit", "1")),
    Scene(
        "A decision belongs to one project. It is a file that people can read, checked before it is written:",
        "parcel-tracker",
        ("write", "--action", "create", "--category", "decision", "--input", "-"),
        sent=DECISION,
        sent_as="decision.json",
    ),
    Scene(
        "The same decision in other words finds this memory, to update it instead of saving a second one:",
        "parcel-tracker",
        (
            *("candidate", "--category", "decision", "--new-info"),
            "all tracking updates from carriers go into a single SQLite database on the polling machine",
        ),
        head=4,
        tail=14,
    ),
    Scene("", "parcel-tracker", ("search", "which database did we choose", "--category", "decision")),
    Scene(
        "In Claude Code the plugin does all this by itself. A prompt gets the memories it is about, or nothing "
        "(this is the text that the model sees):",
        "parcel-tracker",
        ("hook", "prompt"),
        sent=PROMPT,
        sent_as="prompt.json",
    ),
    Scene(
        "A lesson has triggers: they say when it will matter, in other words than its own. This prompt has some of "
        'them: "customer was charged twice, what can we do?" Where recollect is not sure, it gives only the title:',
        "parcel-tracker",
        ("hook", "prompt"),
        sent=CHARGED_TWICE,
        sent_as="charged-twice.json",
    ),
    Scene(
        "In the middle of its work the agent stores and searches by itself, through the plugin's MCP server. It works "
        "in any MCP client (this is the text of its answers to two calls):",
        "parcel-tracker",
        ("mcp",),
        head=4,
        sent=CALLS,
        sent_as="calls.jsonl",
    ),
    Scene(
        "At the end of a turn, rules decide in milliseconds whether it is a good moment to ask what was learned. You "
        "have just said why you chose something, so the agent is asked once, and stores it as above:",
        "parcel-tracker",
        ("hook", "stop"),
        sent='{"session_id": "demo", "transcript_path": "session.jsonl"}',
        sent_as="stop.json",
        said="We decided to give each webhook its own queue because one slow receiver held up all the others. "
        "We chose a table over Redis, since the events are in SQLite anyway.",
    ),
    Scene(
        "The next stop passes, and these messages are not scored again:",
        "parcel-tracker",
        ("hook", "stop"),
        sent='{"session_id": "demo", "transcript_path": "session.jsonl", "stop_hook_active": true}',
        sent_as="stop.json",
    ),
    Scene("Status shows the memories, and problems that need attention:", "parcel-tracker", ("status",)),
    Scene(
        "Settings live in the project. Comments in their file are kept:",
        "billing-api",
        ("config", "set", "memory_injection_limit", "5"),
    ),
)

# What README.md shows of it.
README_SCENES = (
    Scene(
        "",
        "parcel-tracker",
        ("write", "--action", "create", "--category", "decision", "--input", "-"),
        sent=DECISION,
        sent_as="decision.json",
    ),
    Scene("", "parcel-tracker", ("hook", "prompt"), head=7, tail=1, sent=PROMPT, sent_as="prompt.json"),
    Scene("", "parcel-tracker", ("hook", "prompt"), sent=CHARGED_TWICE, sent_as="charged-twice.json"),
    Scene("", "parcel-tracker", ("promote",), head=2, tail=3),
    Scene("", "billing-api", ("search", "everybody came back at once and the server fell over again", "--limit", "1")),
)


def prepare(folder: str) -> dict[str, str]:
    """Make both projects in `folder`; the environment in which recollect sees only them."""
    environment = {**os.environ, "HOME": folder, "RECOLLECT_HOME": os.path.join(folder, "global-store")}
    for name in [name for name in environment if name.startswith(("GIT_", "RECOLLECT_")) and name != "RECOLLECT_HOME"]:
        del environment[name]
    _make_history(os.path.join(folder, "parcel-tracker"), environment)
    other = os.path.join(folder, "billing-api")
    os.makedirs(other)
    _git(other, environment, "init", "--quiet")
    return environment


def run(scene: Scene, folder: str, environment: dict[str, str]) -> Iterator[str]:
    """The lines that a terminal would show for a scene."""
    if scene.learned:
        bank = os.path.join(folder, scene.folder, "docs", "knowledge-bank")
        os.makedirs(bank)
        with open(os.path.join(bank, "anti-patterns.md"), "w", encoding="utf-8") as file:
            file.write(scene.learned)
    if scene.said:
        row = {"type": "user", "message": {"role": "user", "content": scene.said}}
        with open(os.path.join(folder, scene.folder, "session.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    shown = shlex.join(scene.arguments)
    yield f"{scene.folder}$ recollect {shown}{f' < {scene.sent_as}' if scene.sent else ''}"
    done = subprocess.run(
        [RECOLLECT, *scene.arguments],
        cwd=os.path.join(folder, scene.folder),
        env=environment,
        input=scene.sent,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(f"recollect {shown} failed:\n{done.stderr}")
    lines = (done.stderr + _readable(done.stdout)).rstrip().split("\n")
    left_out = len(lines) - scene.head - scene.tail
    if left_out <= 1:
        yield from lines
        return
    yield from lines[: scene.head]
    yield f"[… {left_out} more lines]"
    yield from lines[len(lines) - scene.tail :]


def _readable(output: str) -> str:
    """What a hook or a tool gives to the model, taken out of what it tells the client; any other output as it is."""
    if output.startswith('{"jsonrpc"'):
        results = [json.loads(line)["result"] for line in output.splitlines()]
        return "\n".join(result["content"][0]["text"] for result in results if "content" in result)
    try:
        return json.loads(output)["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError, TypeError):
        return output


def main() -> None:
    if not shutil.which("git"):
        sys.exit("The demo needs git to make a sample repository; on Debian: apt-get install git")
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    bold, dim, plain = ("\033[1m", "\033[2m", "\033[0m") if colour else ("", "", "")
    columns = width_of(sys.stdout)
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        environment = prepare(folder)
        print(wrapped(f"Made two sample projects in {folder}; both are removed at the end.", columns))
        number = 0
        for scene in SCENES:
            number += bool(scene.story)
            story = wrapped(f"{number}. {scene.story}", min(columns, WIDEST_STORY))
            print(f"\n{bold}{story}{plain}\n" if scene.story else "")
            for line in run(scene, folder, environment):
                print(wrapped(f"  {dim}{line}{plain}" if line.startswith("[…") else f"  {line}", columns))
    print("\nNext: docs/quickstart.md shows how to use it in your own project.")


def _make_history(project: str, environment: dict[str, str]) -> None:
    os.makedirs(project)
    _git(project, environment, "init", "--quiet")
    for day, message, paths in HISTORY:
        for path in paths:
            source, target = os.path.join(SAMPLE, path), os.path.join(project, path)
            if os.path.isdir(source):
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)
        _git(project, environment, "add", "--all")
        dated = {"GIT_AUTHOR_DATE": f"{day}T10:00:00Z", "GIT_COMMITTER_DATE": f"{day}T10:00:00Z"}
        _git(project, {**environment, **dated}, "commit", "--quiet", "--message", message)


def _git(folder: str, environment: dict[str, str], *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", folder, *identity, *arguments], env=environment, check=True)


if __name__ == "__main__":
    main()
