"""Another embedding provider by a setting alone: vectors are kept by model, never compared with others, never lost.

The real clients talk to local servers that speak the providers' protocols. Texts that share words get similar vectors.
"""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import World
from tests.integration.provider_servers import KEY, ProviderServer, bag_of_words, speaking

LESSONS = {
    "Sample first": "Read genuine documents before writing a grammar.",
    "Cents": "Keep amounts of money in integer cents.",
    "Drain": "Drain a server before its container is replaced.",
    "Rotation": "Rotate signing keys before they expire.",
}


def settings(server: ProviderServer) -> dict[str, str]:
    return {
        "RECOLLECT_MEMORY_EMBEDDING_PROVIDER": server.provider,
        "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules",
        **server.environment,
    }


def searched(world: World, query: str, server: ProviderServer, **variables: str) -> dict[str, Any]:
    done = world.run("search", query, "--json", **settings(server), **variables)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    return json.loads(done.stdout)


def start_feature(world: World) -> None:
    folder = world.project / "docs" / "features" / "007-money"
    folder.mkdir(parents=True)
    meta = {"status": "active", "slug": "money-amounts"}
    (folder / ".meta.json").write_text(json.dumps(meta), encoding="utf-8")


def line_of(world: World, server: ProviderServer) -> str:
    done = world.run("inject", **settings(server))
    assert done.returncode == 0
    assert KEY not in done.stdout + done.stderr
    return next(line for line in done.stdout.split("\n") if line.startswith("*Memory: "))


def fill(world: World, count: int = 0) -> None:
    lessons = {**LESSONS, **{f"Lesson {n}": f"What number {n} has taught us." for n in range(count)}}
    world.write_bank("patterns", "".join(f"### Pattern: {name}\n{text}\n\n" for name, text in lessons.items()))


def test_gemini_is_swapped_for_ollama_with_nothing_but_a_setting(
    semantic_world: World, gemini: ProviderServer, ollama: ProviderServer
) -> None:
    fill(semantic_world)
    start_feature(semantic_world)
    made = semantic_world.run("reembed", "--json", **settings(gemini))
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["embedded"] == 4
    before = searched(semantic_world, "integer amounts", gemini)
    assert (before["hits"][0]["name"], before["vector_candidates"]) == ("Cents", 4)
    assert "gemini" in before["model"]
    documents, question = (request.body["requests"] for request in gemini.received)
    assert {request["taskType"] for request in documents} == {"RETRIEVAL_DOCUMENT"}
    assert {request["taskType"] for request in question} == {"RETRIEVAL_QUERY"}
    assert {request["outputDimensionality"] for request in [*documents, *question]} == {768}

    swapped = searched(semantic_world, "integer amounts", ollama)
    assert (swapped["vector_candidates"], swapped["pending_embedding"]) == (0, 4)
    assert swapped["hits"][0]["name"] == "Cents"
    assert swapped["hits"][0]["vector"] is None
    assert any("have no vector yet" in warning for warning in swapped["warnings"])
    assert "semantic: active (vector=0, fts5=1, pending_embedding=4)" in line_of(semantic_world, ollama)

    done = semantic_world.run("reembed", **settings(ollama))
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 entries were given a vector by ollama/nomic-embed-text" in done.stdout
    after = searched(semantic_world, "integer amounts", ollama)
    assert (after["hits"][0]["name"], after["vector_candidates"], after["warnings"]) == ("Cents", 4, [])
    assert after["hits"][0]["vector"] > 0.5
    assert "pending_embedding" not in line_of(semantic_world, ollama)
    assert "model: nomic-embed-text*" in line_of(semantic_world, ollama)

    asked = len(gemini.received)
    back = searched(semantic_world, "integer amounts", gemini)
    assert (back["vector_candidates"], back["pending_embedding"], back["warnings"]) == (4, 0, [])
    assert [len(request.texts) for request in gemini.received[asked:]] == [1], "the question alone is embedded"


def test_a_write_with_another_provider_begins_its_vectors_and_leaves_the_old_ones(
    semantic_world: World, gemini: ProviderServer, ollama: ProviderServer
) -> None:
    fill(semantic_world, 60)
    assert semantic_world.run("reembed", **settings(gemini)).returncode == 0
    entry = {"name": "New", "description": "Learnt just now.", "category": "patterns"}
    done = semantic_world.run("upsert", "--entry-json", json.dumps(entry), "--json", **settings(ollama))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pending_embedding"] == 65 - 50
    assert len(ollama.received) == 1
    assert any("Learnt just now." in text for text in ollama.received[0].texts)
    found = searched(semantic_world, "learnt", ollama)
    assert (found["vector_candidates"], found["pending_embedding"]) == (50, 15)
    before = searched(semantic_world, "integer amounts", gemini)
    assert (before["vector_candidates"], before["pending_embedding"]) == (64, 1)


def test_another_model_of_the_same_provider_is_another_model(semantic_world: World, ollama: ProviderServer) -> None:
    fill(semantic_world)
    assert semantic_world.run("reembed", **settings(ollama)).returncode == 0
    ollama.dimensions = 384
    model = {"RECOLLECT_MEMORY_EMBEDDING_MODEL": "all-minilm"}
    found = searched(semantic_world, "integer amounts", ollama, **model)
    assert (found["vector_candidates"], found["pending_embedding"]) == (0, 4)
    done = semantic_world.run("reembed", "--json", **settings(ollama), **model)
    assert json.loads(done.stdout)["model"] == "ollama/all-minilm"
    assert searched(semantic_world, "integer amounts", ollama, **model)["hits"][0]["vector"] > 0.5


def test_a_rate_limit_stops_the_work_and_a_later_run_goes_on(semantic_world: World, ollama: ProviderServer) -> None:
    fill(semantic_world, 116)

    def once(_: object) -> list[list[float]]:
        ollama.status = 429
        return [bag_of_words(text, 768) for text in ollama.received[-1].texts]

    ollama.change = once
    stopped = semantic_world.run("reembed", "--json", **settings(ollama))
    assert stopped.returncode == 1
    assert (json.loads(stopped.stdout)["embedded"], json.loads(stopped.stdout)["pending_embedding"]) == (50, 70)
    assert "HTTP 429" in stopped.stderr
    assert "70 entries still without a vector" in stopped.stderr
    assert len(ollama.received) == 2

    entry = {"name": "New", "description": "Learnt meanwhile.", "category": "patterns"}
    stored = semantic_world.run("upsert", "--entry-json", json.dumps(entry), **settings(ollama))
    assert stored.returncode == 0
    assert stored.stdout.startswith("Stored: New (id: ")
    assert "HTTP 429" in stored.stderr
    limited = searched(semantic_world, "learnt meanwhile", ollama)
    assert limited["hits"][0]["name"] == "New"
    assert any("HTTP 429" in warning for warning in limited["warnings"])

    ollama.status = 200
    ollama.change = lambda _: [bag_of_words(text, 768) for text in ollama.received[-1].texts]
    asked = len(ollama.received)
    resumed = semantic_world.run("reembed", "--json", **settings(ollama))
    assert resumed.returncode == 0
    assert (json.loads(resumed.stdout)["embedded"], json.loads(resumed.stdout)["pending_embedding"]) == (71, 0)
    assert sum(len(request.texts) for request in ollama.received[asked:]) == 71


def test_the_start_of_a_session_sends_its_question_and_no_entry(semantic_world: World, ollama: ProviderServer) -> None:
    fill(semantic_world)
    start_feature(semantic_world)
    assert "pending_embedding=4" in line_of(semantic_world, ollama)
    assert ollama.received == []
    assert semantic_world.run("reembed", **settings(ollama)).returncode == 0
    line = line_of(semantic_world, ollama)
    assert "semantic: active (vector=4, fts5=1)" in line
    assert [len(request.texts) for request in ollama.received] == [4, 1]
    assert "money-amounts" in ollama.received[1].texts[0]
    assert line_of(semantic_world, ollama) == line
    assert len(ollama.received) == 2  # a session that starts where the last one stopped asks nobody


def test_a_provider_that_is_down_leaves_words_and_a_reason(semantic_world: World) -> None:
    fill(semantic_world)
    start_feature(semantic_world)
    with speaking("ollama") as server:
        assert semantic_world.run("reembed", **settings(server)).returncode == 0
    found = searched(semantic_world, "integer amounts", server)
    assert found["hits"][0]["name"] == "Cents"
    assert found["vector_candidates"] == 0
    assert any("ollama serve" in warning for warning in found["warnings"])
    line = line_of(semantic_world, server)
    assert "semantic: degraded (" in line
    assert line.endswith("| model: none*")


def test_vectors_are_kept_as_long_as_no_new_ones_can_be_had(semantic_world: World, ollama: ProviderServer) -> None:
    fill(semantic_world)
    assert semantic_world.run("reembed", **settings(ollama)).returncode == 0
    failed = semantic_world.run("reembed", "--all", RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    assert failed.returncode == 1
    assert "GEMINI_API_KEY" in failed.stderr
    assert searched(semantic_world, "integer amounts", ollama)["vector_candidates"] == 4


def test_what_may_be_a_credential_is_not_sent_to_a_provider(semantic_world: World, ollama: ProviderServer) -> None:
    secret = "ghp_0123456789abcdefghij0123456789abcdef"
    semantic_world.write_bank("patterns", f"### Pattern: Deploy key\nIt is {secret} for now.\n")
    made = semantic_world.run("reembed", "--json", **settings(ollama))
    assert json.loads(made.stdout)["pending_embedding"] == 0
    asked = searched(semantic_world, f"who uses {secret}", ollama)
    assert any("credential" in warning for warning in asked["warnings"])
    assert asked["hits"] == [], "it is withheld"
    sent = [text for request in ollama.received for text in request.texts]
    assert sent
    assert not any(secret in text for text in sent)


def test_triggers_are_sent_beside_the_text_and_one_with_a_credential_is_not(
    semantic_world: World, ollama: ProviderServer
) -> None:
    secret = "ghp_0123456789abcdefghij0123456789abcdef"
    lessons = {"Cents": "rounding of prices; a total is off", "Drain": f"deploying with {secret}"}
    bank = (f"### Pattern: {name}\n{LESSONS[name]}\n- When: {when}\n" for name, when in lessons.items())
    semantic_world.write_bank("patterns", "\n".join(bank))
    made = json.loads(semantic_world.run("reembed", "--json", **settings(ollama)).stdout)
    assert (made["embedded"], made["pending_embedding"]) == (2, 0)
    sent = [text for request in ollama.received for text in request.texts]
    assert any("rounding of prices. a total is off" in text for text in sent)
    assert any("Drain a server before" in text for text in sent)
    assert not any(secret in text for text in sent)
    again = json.loads(semantic_world.run("reembed", "--json", **settings(ollama)).stdout)
    assert (again["embedded"], again["pending_embedding"]) == (0, 0)


def test_another_projects_own_lessons_are_not_sent_to_this_projects_provider(
    semantic_world: World, ollama: ProviderServer
) -> None:
    other = semantic_world.home / "other"
    bank = other / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Pattern: Theirs\nThe launch is on Friday.\n", encoding="utf-8")
    without = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    assert semantic_world.run("search", "launch", cwd=other, **without).returncode == 0
    fill(semantic_world)
    made = semantic_world.run("reembed", "--json", **settings(ollama))
    assert (made.returncode, json.loads(made.stdout)["embedded"]) == (0, 4)
    assert not any("Friday" in text for request in ollama.received for text in request.texts)


def test_projects_with_different_providers_keep_their_vectors_through_each_others_sessions(
    semantic_world: World, ollama: ProviderServer
) -> None:
    fill(semantic_world)
    start_feature(semantic_world)
    assert semantic_world.run("reembed", **settings(ollama)).returncode == 0
    asked = len(ollama.received)
    for _ in range(2):
        semantic_world.run("inject", RECOLLECT_MEMORY_KEYWORD_PROVIDER="rules")
        by_default = semantic_world.run("inject", RECOLLECT_MEMORY_KEYWORD_PROVIDER="rules").stdout
        assert "vector=4" in by_default, "the local model has made its own vectors in the background"
        assert "vector=4" in line_of(semantic_world, ollama)
    assert [len(request.texts) for request in ollama.received[asked:]] == [1], "no entry is embedded again"


def test_pruning_drops_the_vectors_of_other_models_alone(semantic_world: World, ollama: ProviderServer) -> None:
    fill(semantic_world)
    assert semantic_world.run("reembed", **settings(ollama)).returncode == 0
    assert semantic_world.run("reembed").returncode == 0
    seen = semantic_world.run("doctor", "--only", "database", **settings(ollama)).stdout
    assert "every entry has one by ollama/nomic-embed-text (" in seen
    assert "kept for other projects or settings: local/all-MiniLM-L6-v2-int8-words (" in seen
    pruned = semantic_world.run("reembed", "--prune", **settings(ollama))
    assert (pruned.returncode, pruned.stderr) == (0, "")
    assert "Dropped 4 vectors by local/all-MiniLM-L6-v2-int8-words." in pruned.stdout
    assert searched(semantic_world, "integer amounts", ollama)["vector_candidates"] == 4
    again = json.loads(semantic_world.run("reembed", "--prune", "--json").stdout)
    assert (again["embedded"], again["pruned"]) == (4, ["ollama/nomic-embed-text"])
