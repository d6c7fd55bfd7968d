# hot
"""The Engine: the one place to choose the store, the embedder and the keyword generator."""

from __future__ import annotations

import os

from recollect.domain.ranking.trust import REPOSITORY, YOU
from recollect.domain.stored import ACTIVE
from recollect.store.open import open_store
from recollect.store.values import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.config.settings import Settings
    from recollect.config.workspace import Workspace
    from recollect.domain.stored import StoredEntry
    from recollect.embedding.base import Embedder
    from recollect.engine.numpy_ranking import NumpyRanking
    from recollect.engine.warm import Warm
    from recollect.keywords.base import Labeller
    from recollect.keywords.registry import Keywords
    from recollect.store.base import Store
    from recollect.store.values import Feedback, Model


class Engine:
    """A store with its embedder and keyword labels. Heavy parts load on first use."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        patience: float = 10.0,
        answer_within: float = 20.0,
        warm: Warm | None = None,
    ) -> None:
        """Open the store of a workspace.

        Wait up to `patience` seconds for other writers, and up to `answer_within` seconds for a provider. With `warm`,
        use its open store and loaded models.

        Raises:
            StoreError: the store cannot be used.
        """
        self.workspace = workspace
        self.store: Store = (
            warm.store(patience, workspace.store_place, workspace.acting)
            if warm
            else open_store(workspace.store_place, patience=patience, acting=workspace.acting)
        )
        self._warm = warm
        self._embedder: Embedder | None = None
        self._answer_within = answer_within
        self._load_within = 0.0

    @property
    def settings(self) -> Settings:
        return self.workspace.settings

    @property
    def project(self) -> str:
        """Return the identity of the workspace's project; empty without one."""
        return self.workspace.identity

    @property
    def memories(self) -> str:
        """Return the owner of the workspace's memories in the store."""
        return self.workspace.memories

    def vouches_for(self, entry: StoredEntry, origin: str) -> bool:
        """Return True if an entry's text is the user's, or that of a repository that the user has vouched for."""
        return origin == YOU or (origin == REPOSITORY and self.workspace.vouches_for(entry.project))

    def scope(self, project: str | None, categories: Sequence[str] = (), statuses: Sequence[str] = (ACTIVE,)) -> Scope:
        """Return the scope of a project, None for all; that of the workspace has the memories of its worktree."""
        return Scope(
            project,
            categories,
            statuses,
            unproven=self.settings.flag("retrieval.unproven_elsewhere"),
            memories=self.memories if project == self.project else "",
        )

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, unless it is kept open by `Warm`."""
        if self._warm is None:
            self.store.close()

    def embedder(self) -> Embedder:
        """Return the embedder chosen in the settings.

        Raises:
            EmbeddingError: the embedder is not available; the message says what to install or to set.
        """
        provider = self.settings.text("memory_embedding_provider")
        model = self.settings.text("memory_embedding_model")
        if self._warm:
            embedders = self._warm.embedders
            found = embedders.get(provider, model, self._answer_within)
            return embedders.patient(found, self._load_within) if self._load_within else found
        if self._embedder is None:
            from recollect.embedding.registry import create_embedder

            self._embedder = create_embedder(provider, model, timeout=self._answer_within)
        return self._embedder

    def model(self) -> Model | None:
        """Choose the model of the settings in the store. Return it, or None if the store has no vectors of it."""
        provider = self.settings.text("memory_embedding_provider")
        model = self.settings.text("memory_embedding_model")
        if provider == "local":  # a session's start may need nothing else of the embedder
            from recollect.embedding.identity import local_identity

            return self.store.choose_model(local_identity(model))
        from recollect.embedding.registry import identity_of

        return self.store.choose_model(identity_of(provider, model))

    def wait_for_model(self, seconds: float) -> None:
        """Make vectors wait for a model being loaded, as in `Embedders.patient`. Only `Warm` loads one meanwhile."""
        self._load_within = seconds

    def feedback(self, ids: Iterable[str] | None = None) -> Mapping[str, Feedback]:
        """Return what is known of the use of these entries, or of all; nothing if the settings switch it off."""
        return self.store.feedback(ids) if self.settings.flag("memory_feedback_enabled") else {}

    def columns(self, scope: Scope) -> NumpyRanking | None:
        """Return the cached ranking columns of a scope; None without a `Warm` to cache them."""
        workspace = self.workspace
        return self._warm.columns(scope, workspace.store_place, workspace.acting) if self._warm else None

    def labels(self) -> Labeller | None:
        """Return a labeller for many entries at once, by rules alone; None if labels are off."""
        if not self.settings.flag("memory_keyword_generation"):
            return None
        if self.settings.text("memory_keyword_provider") == "off":
            return None
        return _labels_by_rules


def find_keywords(
    settings: Settings, name: str, description: str, reasoning: str, category: str, *, by_rules: bool = False
) -> Keywords:
    """Return keyword labels for one entry, as set in the settings, or `by_rules` alone. Needs no store."""
    from recollect.keywords.registry import Keywords, TieredKeywords, tiers

    if not settings.flag("memory_keyword_generation"):
        return Keywords()
    provider = settings.text("memory_keyword_provider")
    provider = "rules" if by_rules and provider != "off" else provider
    return TieredKeywords(tiers(provider, os.environ)).generate(name, description, reasoning, category)


def _labels_by_rules(name: str, description: str, reasoning: str, category: str) -> Iterable[str]:
    from recollect.keywords.rules import RulesKeywords

    return RulesKeywords().generate(name, description, reasoning, category)
