import shutil
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.embedding.base import Embedder, UnitEmbedder
from recollect.embedding.local import FOLDER, SHA256, LocalSource
from recollect.errors import EmbeddingError


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return UnitEmbedder(LocalSource())


def similarity(embedder: Embedder, one: str, other: str) -> float:
    return cosine(*embedder.embed([one, other], "document"))


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(struct.unpack("<384f", one), struct.unpack("<384f", other), strict=True))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("A man is eating food.", "A man is eating a meal.", "The girl is playing the violin."),
        (
            "Run database migrations inside a transaction.",
            "Wrap schema changes in BEGIN and COMMIT.",
            "Buttons must have a visible focus ring.",
        ),
        ("Never commit API keys to git.", "Secrets do not belong in version control.", "Cache the CI dependencies."),
    ],
)
def test_paraphrase_is_nearer_than_another_subject(embedder: Embedder, text: str, near: str, far: str) -> None:
    assert similarity(embedder, text, near) > similarity(embedder, text, far) + 0.1


@pytest.mark.parametrize(
    ("other", "expected"),
    [("That is a very happy person", 0.94), ("That is a happy dog", 0.70), ("Today is a sunny day", 0.26)],
)
def test_similarities_are_those_the_model_is_known_for(embedder: Embedder, other: str, expected: float) -> None:
    # Wrong pooling or a wrong tokenizer moves these by far more than quantising does.
    assert similarity(embedder, "That is a happy person", other) == pytest.approx(expected, abs=0.04)


def test_text_beyond_256_tokens_is_not_read(embedder: Embedder) -> None:
    read, changed_after, changed_before = embedder.embed(
        ["word " * 254, "word " * 254 + "different " * 40, "word " * 253 + "different " * 40], "document"
    )
    assert read == changed_after
    assert read != changed_before


def test_eight_threads_get_the_same_vectors_as_one() -> None:
    texts = [f"lesson {number} about {'locks ' * (number % 9)}" for number in range(40)]
    shared = UnitEmbedder(LocalSource())
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: shared.embed(texts, "document"), range(8)))
    assert answers == [UnitEmbedder(LocalSource()).embed(texts, "document")] * 8


def test_number_of_threads_does_not_change_a_vector(embedder: Embedder) -> None:
    two = UnitEmbedder(LocalSource(threads=2))
    assert two.embed(["Use parametrised SQL."], "query") == embedder.embed(["Use parametrised SQL."], "query")


def test_query_and_document_get_the_same_vector(embedder: Embedder) -> None:
    assert embedder.embed(["Use parametrised SQL."], "query") == embedder.embed(["Use parametrised SQL."], "document")


def test_identity_tells_the_quantisation(embedder: Embedder) -> None:
    assert embedder.identity == "local/all-MiniLM-L6-v2-int8-words"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "minilm"))


@pytest.mark.parametrize("name", SHA256)
def test_changed_file_is_refused(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(EmbeddingError, match=f"model is damaged: .*{name} is not the file.*install recollect again"):
        UnitEmbedder(LocalSource(str(folder))).embed(["x"], "query")


@pytest.mark.parametrize("name", SHA256)
def test_missing_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EmbeddingError, match=f"model is damaged: .*{name} cannot be read .*install recollect again"):
        UnitEmbedder(LocalSource(str(folder))).embed(["x"], "query")


def test_model_is_read_at_the_first_text_and_then_no_more(folder: Path) -> None:
    embedder = UnitEmbedder(LocalSource(str(folder)))
    first = embedder.embed(["x"], "query")
    shutil.rmtree(folder)
    assert embedder.embed(["x"], "query") == first


def test_repaired_model_is_loaded_after_a_failure(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "away")
    embedder = UnitEmbedder(LocalSource(str(folder)))
    with pytest.raises(EmbeddingError):
        embedder.embed(["x"], "query")
    (folder / "away").rename(folder / "tokenizer.json")
    assert embedder.embed(["x"], "query")


def test_folder_holds_licence_and_notice_with_both_hashes() -> None:
    assert "Apache License" in Path(FOLDER, "LICENSE").read_text(encoding="utf-8")
    notice = Path(FOLDER, "NOTICE.md").read_text(encoding="utf-8")
    assert all(sha256 in notice for sha256 in SHA256.values())


def test_a_word_that_tells_more_pulls_the_vector_towards_it(embedder: Embedder) -> None:
    (names,) = embedder.embed(["Caroline"], "query")
    (task,) = embedder.embed(["adoption agency"], "query")
    text = "Which adoption agency did Caroline choose?"
    (about_names,) = embedder.embed([text], "query", lambda word: 1.0 if word == "caroline" else 0.2)
    (about_task,) = embedder.embed([text], "query", lambda word: 0.2 if word == "caroline" else 1.0)
    assert cosine(about_names, names) > cosine(about_task, names)
    assert cosine(about_task, task) > cosine(about_names, task)


def test_a_text_asked_for_again_with_other_weights_gets_the_vector_of_those(embedder: Embedder) -> None:
    text = "Which adoption agency did Caroline choose?"
    without = lambda word: 0.0 if word == "caroline" else 1.0  # noqa: E731
    (fresh,) = UnitEmbedder(LocalSource()).embed([text], "query", without)
    (plain,) = embedder.embed([text], "query")
    assert embedder.embed([text, text], "query", without) == [fresh, fresh]
    assert embedder.embed(["another text", text], "query")[1] == plain != fresh


def test_punctuation_hardly_changes_a_vector(embedder: Embedder) -> None:
    (plain,) = embedder.embed(["retry with jitter after a timeout"], "document")
    (dotted,) = embedder.embed(["retry, with (jitter); after a timeout..."], "document")
    assert cosine(plain, dotted) > 0.9
