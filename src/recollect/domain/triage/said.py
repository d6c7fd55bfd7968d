# hot
"""Extract the spoken lines of a message: without code, and without text inserted by a program."""

from __future__ import annotations

from recollect.domain.triage.spoken import FEEDBACK, START_TITLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Finds the end of an unspoken part in a line: the position after it, or -1 if it does not end there.
    End = Callable[[str], int]

# Replaces each character of inline code. Positions stay the same, and the code becomes one word without a meaning.
CODE = "\x01"

_TAGS = {
    "<memory-context": "</memory-context>",
    "<triage_data>": "</triage_data>",
    "<transcript_data>": "</transcript_data>",
    "<system-reminder>": "</system-reminder>",
}
_OPENING = tuple(_TAGS)
_INJECTED_END = "---"
_ABBREVIATIONS = (" vs", " e.g", " i.e")  # a sentence goes on after these
_PROSE = 0.85  # the share of letters and spaces in a line of prose


def spoken_lines(text: str) -> list[tuple[str, str]]:
    """Return the spoken lines, each as it is and with inline code masked. Both have the same length."""
    lines: list[tuple[str, str]] = []
    end: End | None = None
    for whole in text.split("\n"):
        line = whole
        if end is not None:
            at = end(line)
            if at < 0:
                continue
            line = line[at:]
            end = None
            if not line.strip():
                continue
        end = _block_end(line, first=not lines)
        if end is None:
            shown, masked, end = _without_tags(line, masked_code(line))
            lines.append((shown, masked))
    return lines


def is_prose(line: str, *, pasted: bool) -> bool:
    """Return True unless a line is a heading, a row of a table or, in a pasted text, the output of a program."""
    text = line.strip()
    if text.startswith("#") or " | " in text:
        return False
    if not pasted:
        return True
    begins = text.lstrip("-*>•\"' ")[:1]
    words = sum([char.isalpha() or char == " " for char in text])
    return begins.isalpha() and text.endswith((".", "!", "?", ":")) and words >= _PROSE * len(text)


def sentences(shown: str, masked: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a line, each as it is and masked."""
    at = 0
    whole = masked
    for short in _ABBREVIATIONS:
        whole = whole.replace(f"{short}. ", f"{short}._")
    ended = whole.replace(". ", ".\n").replace("? ", "?\n").replace("! ", "!\n").replace("; ", ";\n")
    for part in ended.split("\n"):
        yield shown[at : at + len(part)], masked[at : at + len(part)]
        at += len(part) + 1


def masked_code(line: str) -> str:
    """Mask the inline code of a line, backticks included."""
    if "`" not in line:
        return line
    runs = _backtick_runs(line)
    closing = _closing_runs(runs)
    pieces: list[str] = []
    at = index = 0
    while index < len(runs):
        partner = closing[index]
        if partner:
            start, end = runs[index][0], runs[partner][1]
            pieces += (line[at:start], CODE * (end - start))
            at = end
            index = partner
        index += 1
    return "".join(pieces) + line[at:]


def _backtick_runs(line: str) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    start = line.find("`")
    while start >= 0:
        end = start + 1
        while line[end : end + 1] == "`":
            end += 1
        runs.append((start, end))
        start = line.find("`", end)
    return runs


def _closing_runs(runs: list[tuple[int, int]]) -> list[int]:
    """Return for each run of backticks the index of the next equally long one, or 0 without one."""
    closing = [0] * len(runs)
    later: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = later.get(length, 0)
        later[length] = index
    return closing


def _without_tags(shown: str, masked: str) -> tuple[str, str, End | None]:
    """Remove our tags and their content from a line. Return also the end to look for, if the last tag stays open."""
    kept: list[tuple[int, int]] = []
    begin = 0
    at = masked.find("<")
    while at >= 0:
        if not masked.startswith(_OPENING, at):
            at = masked.find("<", at + 1)
            continue
        kept.append((begin, at))
        closing = next(_TAGS[tag] for tag in _OPENING if masked.startswith(tag, at))
        close = masked.find(closing, at)
        if close < 0:
            return _joined(shown, kept), _joined(masked, kept), _after(closing)
        begin = close + len(closing)
        at = masked.find("<", begin)
    if not kept:
        return shown, masked, None
    kept.append((begin, len(masked)))
    return _joined(shown, kept), _joined(masked, kept), None


def _joined(line: str, kept: list[tuple[int, int]]) -> str:
    return "".join([line[start:end] for start, end in kept])


def _block_end(line: str, *, first: bool) -> End | None:
    """Return a function to find the end of a block begun by this line, or None if it begins none.

    Blocks are fenced code, an injected block, and a hook's message to the model.
    """
    text = line.lstrip(" \t>")  # code may be fenced in a quotation too
    mark = text[:1]
    if mark in ("`", "~") and text.startswith(mark * 3):
        info = text.lstrip(mark)
        if mark == "~" or mark not in info:
            return _fence_end(mark, len(text) - len(info))
    if text.startswith(START_TITLE):
        return _rule_end
    if text.startswith(FEEDBACK):
        return _never if first else _blank_end
    return None


def _fence_end(mark: str, length: int) -> End:
    def end(line: str) -> int:
        text = line.strip(" \t>\r")
        return len(line) if len(text) >= length and text.startswith(mark) and not text.strip(mark) else -1

    return end


def _after(closing: str) -> End:
    def end(line: str) -> int:
        at = line.find(closing)
        return at + len(closing) if at >= 0 else -1

    return end


def _rule_end(line: str) -> int:
    return len(line) if line.strip() == _INJECTED_END else -1


def _blank_end(line: str) -> int:
    return -1 if line.strip() else len(line)


def _never(_line: str) -> int:
    return -1
