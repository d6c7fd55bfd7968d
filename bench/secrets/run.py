"""How many secrets are found, and how often ordinary text is taken for one.

    python bench/secrets/run.py [--json] [--misses] [--alarms]

*Found*: lines of formats.py, five of each format, drawn by chance. The rules were chosen with the formats of `seen` in
sight. Beside it, for how many of gitleaks' rules we find the credentials. *Alarms*: lines of code and documentation
that hold no secret. The rules were chosen on the standard library and this project; the packages that are installed
here are `others`, and the figures to believe. A line in which a secret is shown as an example is an alarm as well:
nobody has read them all. Timed beside it: a memory of 2 KB.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
import sysconfig
import time
from collections.abc import Iterator

from formats import half, lines
from gitleaks import NOT, rules

from recollect.domain.secrets.detect import find_secret

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
LIBRARY = (
    "json http urllib email asyncio logging unittest xmlrpc smtplib.py imaplib.py ftplib.py poplib.py netrc.py"
    " getpass.py hashlib.py hmac.py secrets.py ssl.py configparser.py tokenize.py argparse.py shlex.py uuid.py"
).split()
ENDINGS = (".py", ".md", ".rst", ".txt")
SEEDS = range(1, 6)
MOST_OTHERS = 300_000  # lines

# So many alarms in so many lines are aimed for at most.
ALARMS, LINES = 0.2, 5_000

MEMORY = (
    "We chose SQLite over a server because the token of a session and its key live in one file, and the password is"
    " kept in the vault. `token = get_token(request)` reads it; see https://example.com/docs and src/settings.py:12.\n"
)


def files_below(*places: str) -> Iterator[str]:
    for place in places:
        if os.path.isfile(place):
            yield place
        for path in sorted(glob.glob(os.path.join(place, "**", "*"), recursive=True)):
            if path.endswith(ENDINGS) and os.path.isfile(path):
                yield path


def lines_below(most: int, *places: str) -> Iterator[tuple[str, str]]:
    count = 0
    for path in files_below(*places):
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}:{number}", line
                    count += 1
        if count >= most:
            return


def found() -> list[tuple[str, str, int]]:
    """Return of each format the half that it belongs to, its name, and how many of its lines were found."""
    counts: dict[str, int] = {}
    for seed in SEEDS:
        for name, line in lines(seed).items():
            counts[name] = counts.get(name, 0) + bool(find_secret(line))
    return [(half(name), name, count) for name, count in counts.items()]


def covered() -> tuple[int, int, list[str]]:
    """Return how many rules gitleaks has, for how many we find all credentials, and for which we do not."""
    missed: list[str] = []
    for seed in SEEDS:
        for rule, (how, line) in rules(seed).items():
            if rule not in missed and (how == NOT or not find_secret(line)):
                missed.append(rule)
    return len(rules()), len(rules()) - len(missed), missed


def alarms() -> dict[str, tuple[int, list[str]]]:
    """Return how many lines of each source there are, and where those are that raise an alarm."""
    library = sysconfig.get_paths()["stdlib"]
    sources = {
        "the standard library": [os.path.join(library, name) for name in LIBRARY],
        "this project": [os.path.join(TOP, name) for name in ("src", "docs", "plugin/skills", "README.md")],
        "others: installed packages": [sysconfig.get_paths()["purelib"]],
    }
    result: dict[str, tuple[int, list[str]]] = {}
    for name, places in sources.items():
        read = 0
        raised: list[str] = []
        for place, line in lines_below(MOST_OTHERS, *places):
            read += 1
            kind = find_secret(line)
            if kind:
                raised.append(f"{place}: {kind}")
        result[name] = (read, raised)
    return result


def milliseconds(text: str, times: int = 200) -> float:
    find_secret(text)
    start = time.process_time()
    for _ in range(times):
        find_secret(text)
    return (time.process_time() - start) / times * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="name the formats that were not always found")
    parser.add_argument("--alarms", action="store_true", help="name the lines that raised an alarm")
    given = parser.parse_args()
    formats, raised = found(), alarms()
    rows: list[tuple[str, int, int]] = []
    for part in ("seen", "held out", "reported", "attacked"):
        counts = [count for which, _, count in formats if which == part]
        rows.append((part, len(counts), sum(count == len(SEEDS) for count in counts)))
    known, number_covered, _ = covered()
    took = milliseconds((MEMORY * 20)[:2000])
    if given.json:
        document = {
            "formats": {part: {"formats": number, "found": all_found} for part, number, all_found in rows},
            "alarms": {name: {"lines": read, "alarms": len(places)} for name, (read, places) in raised.items()},
            "gitleaks": {"rules": known, "covered": number_covered},
            "milliseconds": took,
        }
        print(json.dumps(document, indent=2))
    else:
        print("| formats | | found |\n| --- | ---: | ---: |")
        for part, number, all_found in rows:
            print(f"| {part} | {number} | {all_found} |")
        print(f"\nRules of gitleaks: {known}, covered: {number_covered}; gitleaks.py says how, and why not the rest.")
        print("\n| lines without secrets | | alarms | in 5,000 |\n| --- | ---: | ---: | ---: |")
        for name, (read, places) in raised.items():
            print(f"| {name} | {read:,} | {len(places)} | {len(places) * LINES / max(read, 1):.2f} |")
        print(f"\nA memory of 2 KB: {took:.2f} ms.")
    for _, name, count in formats:
        if given.misses and count < len(SEEDS):
            print(f"missed {len(SEEDS) - count} of {len(SEEDS)}: {name}", file=sys.stderr)
    for place in [place for _, places in raised.values() for place in places] if given.alarms else []:
        print(place, file=sys.stderr)
    too_many = [name for name, (read, places) in raised.items() if len(places) * LINES > ALARMS * max(read, LINES)]
    missed = sum(number - all_found for _, number, all_found in rows)
    return 1 if missed or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
