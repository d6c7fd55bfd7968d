"""A strict parser of the text format of Prometheus, version 0.0.4, as its documentation describes it."""

from __future__ import annotations

import re

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? (\S+)")
_KINDS = ("counter", "gauge", "histogram")
_ENDINGS = {"histogram": ("_bucket", "_sum", "_count")}

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: str) -> Samples:
    """Return all samples by name and labels. A text that Prometheus would refuse fails."""
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    found: Samples = {}
    family = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in helped, f"{name} is explained twice"
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert re.fullmatch(_NAME, family)
            assert kind in _KINDS
            assert family not in kinds, f"{family} has two types"
            kinds[family] = kind
        else:
            match = _SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            endings = _ENDINGS.get(kinds[family], ("",))
            assert name in [family + ending for ending in endings], f"{name} is not of the family {family}"
            pairs = [pair.split("=", 1) for pair in re.findall(_LABEL, labels or "")]
            key = (name, frozenset((label, text.strip('"')) for label, text in pairs))
            assert key not in found, f"{line} is there twice"
            found[key] = float(value)
    assert helped == set(kinds)
    _check_histograms(found, [name for name, kind in kinds.items() if kind == "histogram"])
    return found


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0.0)


def _check_histograms(found: Samples, names: list[str]) -> None:
    for name in names:
        series: dict[frozenset[tuple[str, str]], list[tuple[float, float]]] = {}
        for (sample, labels), count in found.items():
            if sample == f"{name}_bucket":
                others = frozenset(pair for pair in labels if pair[0] != "le")
                series.setdefault(others, []).append((float(dict(labels)["le"]), count))
        for labels, buckets in series.items():
            assert buckets == sorted(buckets), "buckets rise"
            assert [count for _, count in buckets] == sorted(count for _, count in buckets)
            assert buckets[-1] == (float("inf"), found[f"{name}_count", labels])
            assert found[f"{name}_sum", labels] >= 0
