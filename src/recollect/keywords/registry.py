"""Who is asked for labels, in which order, by the setting memory_keyword_provider.

Callers that import many entries at once take RulesKeywords alone: a request for each would run into rate limits, and
five seconds for each would not end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.errors import KeywordError
from recollect.keywords import anthropic, ollama
from recollect.keywords.base import KeywordGenerator, validated
from recollect.keywords.rules import RulesKeywords


@dataclass(frozen=True)
class Keywords:
    """The labels of an entry, the tier that found them (empty when none did), and why the tiers before it did not."""

    labels: tuple[str, ...] = ()
    tier: str = ""
    failures: tuple[str, ...] = ()


class TieredKeywords:
    """Asks one tier after the other until one finds a label."""

    def __init__(self, tiers: Sequence[KeywordGenerator]) -> None:
        self._tiers = tuple(tiers)

    def generate(self, name: str, description: str, reasoning: str, category: str) -> Keywords:
        """The labels of the first tier that finds any; whatever goes wrong is told, not raised."""
        failures: list[str] = []
        for tier in self._tiers:
            try:
                labels = validated(tier.generate(name, description, reasoning, category))
            except KeywordError as error:
                failures.append(f"{tier.name}: {error}")
            except Exception as error:  # an entry is stored with or without labels
                failures.append(f"{tier.name}: failed unexpectedly ({type(error).__name__})")
            else:
                if labels:
                    return Keywords(tuple(labels), tier.name, tuple(failures))
                failures.append(f"{tier.name}: found no label")
        return Keywords(failures=tuple(failures))


def tiers(provider: str, environment: Mapping[str, str]) -> list[KeywordGenerator]:
    """The tiers that a setting means, the best first. A value that is not known means rules.

    `claude` stands for the session's own model, which gives labels along with an entry; rules are for the rest.
    """
    if provider == "off":
        return []
    key = environment.get(anthropic.KEY_VARIABLE, "").strip()
    host = environment.get(ollama.HOST_VARIABLE, "").strip()
    found: list[KeywordGenerator] = []
    if provider in ("claude-api", "haiku", "anthropic") or (provider == "auto" and key and anthropic.is_installed()):
        base_url = environment.get(anthropic.URL_VARIABLE, "")
        found.append(anthropic.AnthropicKeywords(key, base_url=base_url))
    # Without a word from the user nobody is asked, not even on this machine.
    if provider == "ollama" or (provider == "auto" and host and ollama.is_installed()):
        found.append(ollama.OllamaKeywords(host))
    return [*found, RulesKeywords()]
