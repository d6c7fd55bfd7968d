"""How often prompts get what they are about where the model is at hand, by prompts that no constant was chosen on."""

from __future__ import annotations

from pathlib import Path

from bench.retrieval.prompts import ANOTHER, HELD_OUT, by_meaning, load_prompts, make_world, measure

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.engine.embed import embed_pending


def test_with_vectors_more_prompts_are_answered_and_more_are_left_alone(tmp_path: Path) -> None:
    store, roots = make_world(str(tmp_path))
    prompts = load_prompts()
    with Engine(store, load_settings(str(tmp_path), {})) as engine:
        embed_pending(engine, most=-1)
        system = by_meaning(engine, roots)
        held_out, another = (measure(system, [p for p in prompts if p.part == part]) for part in (HELD_OUT, ANOTHER))
    assert held_out.right >= 0.86
    assert held_out.silent >= 0.96
    assert another.right >= 0.53
    assert another.silent >= 0.85
