"""Embedding in this process with the bundled model: no key, no network, no daemon."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

from recollect.embedding.base import Kind, Telling
from recollect.embedding.identity import LOCAL_IDENTITY, LOCAL_MODEL
from recollect.errors import EmbeddingError
from recollect.extras import AGAIN

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "minilm")
SHA256 = {
    "model_quantized.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LONGEST_TOKENS = 256

# The weight of punctuation and of the special tokens around a text. A word weighs 1.
_NO_WORD = 0.2
_WORD = re.compile(r"[^\W_]+")

# The number of texts cached for each thread, for requests with other weights.
_REMEMBERED = 8


class LocalSource:
    """The model all-MiniLM-L6-v2, quantised to int8. It loads on first use, and several threads may use it at once.

    Texts run through the model one by one. The model quantises its activations over a whole batch, so in a batch a
    text's vector would depend on its neighbours (a cosine of 0.99 on average, 0.977 at worst). On one thread a batch
    would be 5 % faster at best.
    """

    provider = "local"
    model = LOCAL_MODEL
    identity = LOCAL_IDENTITY
    dimensions = 384
    batch_size = 50

    def __init__(self, folder: str = FOLDER, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    def vectors(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:  # noqa: ARG002 (the model has one kind)
        """Return the mean of each text's token vectors. Raises as `weighed` does."""
        return self.weighed(texts, lambda _word: 1.0)

    def weighed(self, texts: Sequence[str], telling: Telling) -> list[list[float]]:
        """Return the weighted mean of each text's token vectors: up to 256, each with the weight of its word.

        Raises:
            EmbeddingError: the model, or a package to run it, is missing or damaged.
        """
        with self._loading:
            loaded = self._loaded = self._loaded or _Loaded(self._folder, self._threads)
        return [loaded.vector(text, telling) for text in texts]


class _Loaded:
    """The model in memory, with a cache of each thread's last texts: a prompt is embedded with many weights."""

    def __init__(self, folder: str, threads: int) -> None:
        self._last = _LastTexts()
        _prepare_environment()
        self._numpy = _import("numpy")
        runtime = _import("onnxruntime")
        tokenizers = _import("tokenizers")
        # The runtime may have been imported before, without the variable.
        runtime.disable_telemetry_events()
        try:
            self._tokenizer = tokenizers.Tokenizer.from_buffer(_verified(folder, "tokenizer.json"))
            self._tokenizer.enable_truncation(LONGEST_TOKENS)
            self._tokenizer.no_padding()
            self._session = runtime.InferenceSession(
                _verified(folder, "model_quantized.onnx"),
                _options(runtime, threads),
                providers=["CPUExecutionProvider"],
            )
        except EmbeddingError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"the embedding model in {folder} cannot be loaded ({error}); reinstall onnxruntime and tokenizers"
            ) from error

    def vector(self, text: str, telling: Telling) -> list[float]:
        offsets, hidden = self._read(text)
        weights = self._numpy.array(_weights(text, offsets, telling), dtype=self._numpy.float32)
        return (weights @ hidden).tolist()

    def _read(self, text: str) -> tuple[Sequence[tuple[int, int]], Any]:
        """Return the offsets of a text's tokens, and a vector for each token."""
        read = self._last.texts
        if text in read:
            return read[text]
        encoding = self._tokenizer.encode(text)
        tokens = self._numpy.array([encoding.ids], dtype=self._numpy.int64)
        try:
            (hidden,) = self._session.run(
                ["last_hidden_state"],
                {
                    "input_ids": tokens,
                    "attention_mask": self._numpy.ones_like(tokens),
                    "token_type_ids": self._numpy.zeros_like(tokens),
                },
            )
        except Exception as error:
            raise EmbeddingError(f"the local embedding model failed ({error}); try again") from error
        while len(read) >= _REMEMBERED:
            del read[next(iter(read))]
        read[text] = (encoding.offsets, hidden[0])
        return read[text]


class _LastTexts(threading.local):
    """The token offsets and vectors of this thread's last texts, newest last."""

    def __init__(self) -> None:
        self.texts: dict[str, tuple[Sequence[tuple[int, int]], Any]] = {}


def _weights(text: str, offsets: Sequence[tuple[int, int]], telling: Telling) -> list[float]:
    """Return the weight of each token: the weight of its word, or a low one outside of words.

    The model was trained with the mean over all tokens. In it, commas and brackets count as much as names.
    """
    words = [(found.start(), found.end(), found[0].lower()) for found in _WORD.finditer(text)]
    weights: list[float] = []
    at = 0
    for start, end in offsets:
        while at < len(words) and words[at][1] <= start:
            at += 1
        inside = start < end and at < len(words) and words[at][0] <= start
        weights.append(telling(words[at][2]) if inside else _NO_WORD)
    return weights


def _prepare_environment() -> None:
    """Set the environment variables the packages read only once, during import."""
    # Since 1.29 onnxruntime reports the process, the model and the machine to its makers, and keeps an identifier in
    # the user's cache. Only this variable stops all of it. No setting of ours may turn it on.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # numpy's own threads do not help a model of this size, and on a busy machine they cost a second.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def _options(runtime: Any, threads: int) -> Any:
    """Return settings for a short life: extended optimisations cost 20 ms at the start, and run a quarter faster."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing(module) from error


def missing(module: str) -> EmbeddingError:
    """Return the error for a missing package recollect itself depends on."""
    if os.environ.get("CLAUDE_PLUGIN_DATA"):
        advice = "; the plugin installs it by itself, and /memory:status says how far that is"
    else:
        advice = f"; {AGAIN}"
    return EmbeddingError(f"the local embedding model needs the package {module}, which is missing{advice}")


def _verified(folder: str, name: str) -> bytes:
    """Return the content of a model file after checking its SHA-256."""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise EmbeddingError(
            f"the installed embedding model is damaged: {path} cannot be read ({error.strerror}); {AGAIN}"
        ) from error
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        raise EmbeddingError(
            f"the installed embedding model is damaged: {path} is not the file that was released; {AGAIN}"
        )
    return content
