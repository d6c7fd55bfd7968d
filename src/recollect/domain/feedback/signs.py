"""Find signs in a transcript that a session has used the memories it was given, or that a person has corrected them.

A sign is never the memory's own text: neither the block that gave it nor a call of recollect's tools counts. What a
person has said first, or the model before it was given the memory, is no sign either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from recollect.domain.feedback.files import named_files, names_file, touched
from recollect.domain.feedback.kinds import CITED, CONTRADICTED, MENTIONED, SAID, TOUCHED
from recollect.domain.feedback.lines import HUMAN, MODEL, OUTSIDE, Line, Shown, Sign
from recollect.domain.feedback.words import known_in, runs_in, runs_of, weight, words_of
from recollect.domain.ranking.order import days_of
from recollect.domain.triage.signs import Step, only_reads

# A memory is said with rare words of this weight within so many words; a longer memory needs more, as chance does.
_ENOUGH = 2
_WINDOW = 30
_LONG = (15, 40)
_FEWEST = 2

# A title is known again if it has so many words; a name, if it has so many letters.
_TITLE_WORDS = 3
_SHORTEST_NAME = 8

# With fewer rare words, nobody can tell that a memory was not mentioned.
_TELLABLE = 2
_SHOWN_ID = 8

# After so many further prompts a file is touched for other reasons, and a person corrects something else.
_TOUCHED_WITHIN = 3
_CORRECTED_WITHIN = 2

# In words: the part of a prompt that says what is wrong, and what it has in common with the memory.
_CORRECTION = 60
_IN_COMMON = 2

# In seconds: the clocks of the client and of the store, and the time that a prompt takes to be answered.
_NEAR = 30.0

_MOST_LINES = 8
_MOST_TEXT = 6_000
_DEEPEST = 6
_NEVER = 1 << 60

_SERVER = "recollect__"
_SUPERSEDES = "supersedes"
_REPLACING = {"--supersedes": 1, "--supersede": 2}  # options of commands, and the place of the older one after them
_AROUND = str.maketrans("='\"", "   ")
_REPLACED = "old_string"  # the file's own words

# Beginnings of a correction, and phrases in one. Words are without marks: "don't" is two of them.
_CORRECTING = (
    *("no", "nope", "wrong", "actually", "incorrect", "stop", "not true", "not anymore", "not any more", "nah"),
    *("that is wrong", "that s wrong", "this is wrong", "thats wrong", "that s not", "that is not", "it s not"),
)
_HARMLESS = ("no problem", "no worries", "no need", "no idea", "no thank", "no rush", "stop here", "no that s fine")
_FORMER = (
    *("no longer", "anymore", "any more", "is outdated", "out of date", "obsolete", "we left", "we dropped"),
    *("moved to", "we moved", "we switched", "we migrated", "we replaced", "nicht mehr"),
)
_CORRECTED = (
    *(*_FORMER, "outdated", "dropped", "is wrong", "was wrong", "not right", "not true", "not correct", "incorrect"),
    *("don t use", "do not use", "stop using", "never use", "that s old", "is not how", "isn t how", "stimmt nicht"),
)

# Phrases for something that was so before: one word in common tells what.
_CHANGED = (*_FORMER, "not since", "used to", "veraltet")

# Beginnings that mean the last answer.
_BACK = (
    *("that is outdated", "that s outdated", "that is wrong", "that s wrong", "that is not right", "that s not right"),
    *("that is no longer", "that s no longer", "that is not true", "that s not true"),
    *("das stimmt nicht", "das ist veraltet"),
)


def find_signs(
    given: Sequence[Shown], lines: Sequence[Line], *, frequent: Set[str] = frozenset(), root: str = ""
) -> list[Sign]:
    """Return the signs of use of the given memories in a transcript, in its order, each once for a turn.

    `frequent` are words that many memories have. `root` is the folder of the project. The result depends on the
    arguments alone: to look twice, or once at the end, finds the same.
    """
    if not given or not lines:
        return []
    memories = _together(given, lines, frequent)
    signs = _Signs(lines)
    seen = _Seen(lines, {word for memory in memories for word in memory.rare}, root)
    for place, line in enumerate(lines):
        if line.source == MODEL:
            _find_use(line, seen.written(place), memories, seen, signs)
        elif line.source == HUMAN:
            _find_correction(place, memories, seen, signs)
    # Sessions look round. A file that was only read, without a word of the memory, was read for another reason.
    telling = {memory.id for memory in memories if memory.is_changed or memory.is_mentioned}
    found = [sign for sign in signs.found() if sign.kind != TOUCHED or sign.id in telling]
    known = {sign.id for sign in found if sign.kind != MENTIONED}
    return [sign for sign in found if sign.kind != MENTIONED or sign.id not in known]


class _Memory:
    """A memory as it was given first and with its whole text, if it was ever; `after` is the place of its giving."""

    def __init__(self, shown: Shown, after: int, frequent: Set[str]) -> None:
        self.id = shown.id
        self.after = after
        text = f"{shown.title}\n{shown.text[:_MOST_TEXT]}"
        self.weights = {
            word: weight(word) for word in dict.fromkeys(words_of(text)) if weight(word) and word not in frequent
        }
        self.rare = frozenset(self.weights)
        # Any of these is a mention, also one that the prompt or many memories have; of too few nothing can be told.
        mentions = frozenset(word for word in words_of(text) if weight(word))
        self.mentions = mentions if len(mentions) >= _TELLABLE else None
        self.is_noted = False
        self.runs = runs_of(text, self.rare)
        self.title = words_of(shown.title)
        names = [name.lower() for name in shown.names if len(name) >= _SHORTEST_NAME]
        self.names = {name: words_of(name) for name in names}
        self.marks = {shown.id, shown.id[:_SHOWN_ID]}
        self.files = named_files(shown.text, shown.files)
        self.needed = _ENOUGH + sum(len(self.rare) > size for size in _LONG)
        self.said_last = after  # the place where a person may correct it after
        self.is_mentioned = False  # whether the model has used one of its rare words
        self.is_changed = False  # whether a file of it was touched other than by reading


class _Written:
    """What the model has written in a line: its words in order, each once, its text, and the paths of files in it."""

    def __init__(self, place: int, words: list[str], text: str, paths: list[str]) -> None:
        self.place = place
        self.words = words
        self.have = set(words)
        self.lower = text.lower()
        self.paths = paths


class _Seen:
    """The words of each line, and where the rare words of memories were first: from a person, and from the model."""

    def __init__(self, lines: Sequence[Line], rare: Set[str], root: str) -> None:
        self._root = root
        self._paths: list[list[str]] = []
        self.words: list[list[str]] = []
        self._texts: list[str] = []
        self._asked: dict[str, int] = {}
        self._model: dict[str, int] = {}
        self._touched: dict[str, int] = {}
        self._is_human = [line.source == HUMAN for line in lines]
        for place, line in enumerate(lines):
            text = line.text if line.source != MODEL else "\n".join([line.text, *_inputs(line.steps)])
            if line.source != OUTSIDE:
                first = self._model if line.source == MODEL else self._asked
                for word in known_in(text, rare):
                    first.setdefault(word, place)
            self.words.append([] if line.source == OUTSIDE else words_of(text))
            self._texts.append("" if line.source == OUTSIDE else text)
            self._paths.append([path for step in line.steps if not is_own(step) for path in touched(step)])
            for path in self._paths[-1]:
                self._touched.setdefault(path, place)

    def is_new(self, word: str, place: int, memory: _Memory) -> bool:
        """Return True if nobody has used a word of a memory before this place, but the model after it was given it."""
        return self._asked.get(word, _NEVER) >= place and self._model.get(word, _NEVER) > memory.after

    def written(self, place: int) -> _Written:
        return _Written(place, self.words[place], self._texts[place], self._paths[place])

    def is_touched(self, memory: _Memory, written: _Written) -> bool:
        """Return True if a line has a file of the memory, first after the memory, and named by no person before."""
        return any(
            self._touched[path] > memory.after
            and any(names_file(file, path, self._root) for file in memory.files)
            and not any(path.rpartition("/")[2] in self._texts[at] for at in self._prompts(written.place))
            for path in written.paths
        )

    def was_asked(self, title: Sequence[str], place: int) -> bool:
        """Return True if a person has used the words of a title in a row before a place."""
        run = f" {' '.join(title)} "
        return any(run in f" {' '.join(self.words[at])} " for at in self._prompts(place))

    def _prompts(self, before: int) -> Iterator[int]:
        """Yield the places of the prompts before a place."""
        return (at for at in range(before) if self._is_human[at])

    def was_said(self, words: Iterable[str], after: int, before: int) -> bool:
        """Return True if the model has used one of the words between two places."""
        wanted = set(words)
        return any(not wanted.isdisjoint(self.words[at]) for at in range(after + 1, before))


class _Signs:
    """The signs found so far, by memory, kind and turn."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._found: dict[tuple[int, str, str], Sign] = {}
        self.turns: list[int] = []  # the place of the prompt that each line follows
        self.counts: list[int] = []  # the number of prompts up to each line
        turn = -1
        for place, line in enumerate(lines):
            turn = place if line.source == HUMAN else turn
            self.turns.append(turn)
            self.counts.append((self.counts[-1] if self.counts else 0) + (line.source == HUMAN))

    def add(self, id: str, kind: str, place: int) -> None:
        turn = self._lines[self.turns[place]].number if self.turns[place] >= 0 else 0
        line = self._lines[place]
        sign = self._found.setdefault((turn, id, kind), Sign(id, kind, turn, line.at))
        if len(sign.lines) < _MOST_LINES and line.number not in sign.lines:
            sign.lines.append(line.number)

    def prompts_between(self, after: int, place: int) -> int:
        """Return the number of prompts after a place, up to another."""
        return self.counts[place] - (self.counts[after] if after >= 0 else 0)

    def found(self) -> list[Sign]:
        return list(self._found.values())


def _together(given: Sequence[Shown], lines: Sequence[Line], frequent: Set[str]) -> list[_Memory]:
    """Return the memories, each once for each form in which it was given: from the first time on."""
    first: dict[tuple[str, bool], _Memory] = {}
    for shown in given:
        memory = _Memory(shown, _place_of(shown, lines), frequent)
        key = (shown.id, bool(shown.text))
        if key not in first or memory.after < first[key].after:
            first[key] = memory
    return list(first.values())


def _place_of(shown: Shown, lines: Sequence[Line]) -> int:
    """Return the place of the last line before the memory was given; -1 for the beginning.

    A prompt is written at about the time of its receipt; its words tell it from others at that time.
    """
    if shown.query:
        moment = _seconds(shown.at)
        near = [
            (place, abs(_seconds(line.at) - moment))
            for place, line in enumerate(lines)
            if line.source == HUMAN and (not line.at or abs(_seconds(line.at) - moment) <= _NEAR)
        ]
        if near:
            asked = set(words_of(shown.query))
            return max(near, key=lambda item: (len(asked.intersection(words_of(lines[item[0]].text))), -item[1]))[0]
    before = [place for place, line in enumerate(lines) if line.at[:19] < shown.at[:19]]
    return before[-1] if before and any(line.at for line in lines) else -1


def _seconds(stamp: str) -> float:
    return days_of(stamp) * 86_400


def _find_use(line: Line, written: _Written, memories: Sequence[_Memory], seen: _Seen, signs: _Signs) -> None:
    """Note the memories that a line of the model shows the use of."""
    own = [step for step in line.steps if is_own(step)]
    place = written.place
    for memory in memories:
        if place <= memory.after:
            continue
        new = {word for word in memory.rare & written.have if seen.is_new(word, place, memory)}
        is_cited = _is_cited(memory, written) and not seen.was_asked(memory.title, place)
        is_said = _is_said(memory, written, new)
        if is_cited or is_said:
            memory.said_last = place
        is_soon = signs.prompts_between(memory.after, place) <= _TOUCHED_WITHIN
        is_touched = is_soon and seen.is_touched(memory, written)
        memory.is_mentioned = memory.is_mentioned or bool(new)
        if not memory.is_noted and (memory.mentions is None or memory.mentions & written.have):
            memory.is_noted = True
            signs.add(memory.id, MENTIONED, place)
        memory.is_changed = memory.is_changed or (is_touched and not all(map(only_reads, line.steps)))
        for kind, is_found in (
            (CITED, is_cited),
            (SAID, is_said),
            (TOUCHED, is_touched),
            (CONTRADICTED, any(_supersedes(step, memory) for step in own)),
        ):
            if is_found:
                signs.add(memory.id, kind, place)


def _is_cited(memory: _Memory, written: _Written) -> bool:
    """Return True if the model names a memory by its id, its path, its slug or its whole title."""
    have = written.have
    if not memory.marks.isdisjoint(have):
        return True
    if any(have.issuperset(words) and _has_name(written.lower, name) for name, words in memory.names.items()):
        return True
    title = memory.title
    return (
        len(title) >= _TITLE_WORDS
        and have.issuperset(title)
        and f" {' '.join(title)} " in f" {' '.join(written.words)} "
    )


def _has_name(text: str, name: str) -> bool:
    """Return True if a name stands by itself in a text, and not in a longer name or as an option of a command."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("-", "_") or after.isalnum() or after in ("-", "_")):
            return True
        at = text.find(name, at + 1)
    return False


def _is_said(memory: _Memory, written: _Written, new: set[str]) -> bool:
    """Return True if the model uses enough rare words of a memory close together, or a run of them."""
    if len(new) < _FEWEST:
        return False
    words = written.words
    places = [at for at, word in enumerate(words) if word in new]
    for number, at in enumerate(places):
        near: set[str] = set()
        for other in places[number:]:
            if other - at >= _WINDOW:
                break
            near.add(words[other])
        if len(near) > 1 and sum(memory.weights[word] for word in near) >= memory.needed:
            return True
    starts = {start for at in places for start in (at - 1, at) if start >= 0}
    return any(
        run in memory.runs and len(new.intersection(run)) >= _FEWEST
        for start in starts
        for run in runs_in(words, start)
    )


def _find_correction(place: int, memories: Sequence[_Memory], seen: _Seen, signs: _Signs) -> None:
    """Note the memory that a person corrects: the one with the most rare words in common, of those used lately."""
    words = seen.words[place][:_CORRECTION]
    if not _corrects(words):
        return
    best = 0
    meant: list[_Memory] = []
    enough = 1 if _says_change(words) else _IN_COMMON
    for memory in memories:
        if place <= memory.after or signs.prompts_between(memory.said_last, place) > _CORRECTED_WITHIN:
            continue
        common = memory.rare & set(words)
        shared = sum(memory.weights[word] for word in common)
        if shared < max(best, enough) or not seen.was_said(common, memory.after, place):
            continue
        meant = [*meant, memory] if shared == best else [memory]
        best = shared
    if not meant and _points_back(words):
        said = [
            each
            for each in memories
            if each.after < each.said_last and signs.prompts_between(each.said_last, place) == 1
        ]
        meant = said if len(said) == 1 else []
    for memory in meant:
        signs.add(memory.id, CONTRADICTED, place)


def _says_change(words: Sequence[str]) -> bool:
    """Return True if a person says that something is not so any more."""
    text = f" {' '.join(words)} "
    return any(f" {phrase} " in text for phrase in _CHANGED)


def _points_back(words: Sequence[str]) -> bool:
    """Return True if a correction begins with a word for what was just said."""
    text = f"{' '.join(words)} "
    return any(text.startswith(f"{phrase} ") for phrase in _BACK)


def _corrects(words: Sequence[str]) -> bool:
    text = f" {' '.join(words)} "
    if any(text.startswith(f" {phrase} ") for phrase in _HARMLESS):
        return False
    begins = any(text.startswith(f" {phrase} ") for phrase in _CORRECTING)
    return begins or any(f" {phrase} " in text for phrase in _CORRECTED)


def is_own(step: Step) -> bool:
    """Return True for a use of recollect itself: a call of its server, or its command."""
    if _SERVER in step.tool:
        return True
    parts = (part.split(maxsplit=1)[:1] for command in step.commands() for part in command.split("|"))
    return any(name.rpartition("/")[2] == "recollect" for word in parts for name in word)


def _supersedes(step: Step, memory: _Memory) -> bool:
    """Return True if a use of recollect says that something replaces a memory."""
    for name in _superseded(step):
        slug = name.rpartition("/")[2].removesuffix(".json")
        if (len(name) >= _SHOWN_ID and memory.id.startswith(name)) or not memory.names.keys().isdisjoint((name, slug)):
            return True
    return False


def _superseded(step: Step) -> Iterator[str]:
    """Yield the names of what a use of recollect replaces, in lower case."""
    given = step.given
    for value in (given.get(_SUPERSEDES), given.get("other") if given.get("relation") == _SUPERSEDES else None):
        if isinstance(value, str):
            yield value.strip().lower()
    for command in step.commands():
        words = command.lower().translate(_AROUND).split()
        for option, place in _REPLACING.items():
            if option in words:
                yield from words[words.index(option) + place :][:1]


def _inputs(steps: Sequence[Step]) -> list[str]:
    """Return the texts that the model has given to tools, but to recollect's own, and but for a file's own lines."""
    found: list[str] = []
    for step in steps:
        if is_own(step):
            continue
        replaced = step.given.get(_REPLACED)
        known = set(replaced.split("\n")) if isinstance(replaced, str) else set[str]()
        for name, value in step.given.items():
            if name != _REPLACED:
                found += ["\n".join(line for line in text.split("\n") if line not in known) for text in _texts(value)]
    return found


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < _DEEPEST:
        for item in value.values():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _texts(item, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(item, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
