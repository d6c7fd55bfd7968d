"""Keyword generators in the order set by memory_keyword_provider.

For an import of many entries, use RulesKeywords alone. A request for each entry would run into rate limits, and five
seconds for each would take too long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.ranking.labels import FEWEST, validated
from recollect.errors import KeywordError
from recollect.keywords import anthropic, ollama
from recollect.keywords.base import KeywordGenerator
from recollect.keywords.rules import RulesKeywords


@dataclass(frozen=True)
class Keywords:
    """The labels of an entry, the first tier that found any, and the failures of tiers.

    `tier` is empty if no tier found a label.
    """

    labels: tuple[str, ...] = ()
    tier: str = ""
    failures: tuple[str, ...] = ()


class TieredKeywords:
    """A list of tiers, asked one after the other until there are enough labels."""

    def __init__(self, tiers: Sequence[KeywordGenerator]) -> None:
        self._tiers = tuple(tiers)

    def generate(self, name: str, description: str, reasoning: str, category: str) -> Keywords:
        """Return the labels of the first tier with any, and as many of the next ones as the fewest need.

        Failures are reported, not raised.
        """
        failures: list[str] = []
        labels: list[str] = []
        first = ""
        for tier in self._tiers:
            try:
                found = validated(tier.generate(name, description, reasoning, category))
            except KeywordError as error:
                failures.append(f"{tier.name}: {error}")
            except Exception as error:  # labels are optional, so no failure may stop an entry
                failures.append(f"{tier.name}: failed unexpectedly ({type(error).__name__})")
            else:
                if not found and not isinstance(tier, RulesKeywords):  # a text of everyday words is no failure of rules
                    failures.append(f"{tier.name}: found no label")
                first = first or (tier.name if found else "")
                labels = validated([*labels, *found])[: max(FEWEST, len(labels))] if labels else found
            if len(labels) >= FEWEST:
                break
        return Keywords(tuple(labels), first, tuple(failures))


def tiers(provider: str, environment: Mapping[str, str]) -> list[KeywordGenerator]:
    """Return the tiers for a setting, best first. An unknown value means rules.

    `claude` stands for the session's own model. It gives labels along with an entry, and rules label all other entries.
    """
    if provider == "off":
        return []
    key = environment.get(anthropic.KEY_VARIABLE, "").strip()
    host = environment.get(ollama.HOST_VARIABLE, "").strip()
    found: list[KeywordGenerator] = []
    if provider in ("claude-api", "haiku", "anthropic") or (provider == "auto" and key and anthropic.is_installed()):
        base_url = environment.get(anthropic.URL_VARIABLE, "")
        found.append(anthropic.AnthropicKeywords(key, base_url=base_url))
    # Ask Ollama only if the user has set it up, even on this machine.
    if provider == "ollama" or (provider == "auto" and host and ollama.is_installed()):
        found.append(ollama.OllamaKeywords(host))
    return [*found, RulesKeywords()]
