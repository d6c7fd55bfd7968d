"""How often prompts get what they are about where the model is at hand, by prompts that no constant was chosen on."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.retrieval.prompts import ANOTHER, HELD_OUT, by_meaning, load_prompts, make_world, measure, small

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.engine.embed import embed_pending


@pytest.mark.slow
def test_with_vectors_more_prompts_are_answered_and_more_are_left_alone(tmp_path: Path) -> None:
    store, roots = make_world(str(tmp_path), triggers=True)
    prompts = load_prompts()
    with Engine(store, load_settings(str(tmp_path), {})) as engine:
        embed_pending(engine, most=-1)
        system = by_meaning(engine, roots)
        held_out, another = (measure(system, [p for p in prompts if p.part == part]) for part in (HELD_OUT, ANOTHER))
    assert held_out.right >= 0.85
    assert held_out.either >= 0.95
    assert held_out.silent >= 0.95
    assert another.right >= 0.60
    assert another.either >= 0.82
    assert another.silent >= 0.94
    assert max(held_out.tokens, another.tokens) <= 25


@pytest.mark.slow
def test_short_prompts_in_small_projects_get_their_memory_more_often_with_triggers() -> None:
    without, half = (small(triggers=triggers, vectors=True) for triggers in (False, True))
    assert without.either >= 0.58
    assert half.either >= max(0.62, without.either)
    assert min(without.silent, half.silent) >= 0.97
    assert max(without.tokens, half.tokens) <= 25
