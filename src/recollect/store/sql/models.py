# hot
"""The embedding models with vectors in a store, and the one in use."""

from __future__ import annotations

import time

from recollect.domain.text import utc_text
from recollect.errors import StoreDamaged
from recollect.store.values import Model
from recollect.store.vectors import code_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sql.database import SqlDatabase

# The vectors of a model have the row numbers of their entries, moved by the model's number times this. So the first
# model's have those of the entries themselves, and a model's vectors lie together. Python 3.11.2 opens blobs by numbers
# below 2^31 only, and a thousand vectors have one, so the numbers of models are kept small.
SPAN = 1 << 36
_MOST_NUMBERS = 31
NOWHERE = -SPAN  # where no model has vectors

_KEPT_SECONDS = 90 * 86_400  # after its last use
_MOST_MODELS = 8

_COLUMNS = "number, used, identity, provider, name, dimensions"
_TYPES = (int, str, str, str, str, int)  # of these columns in an intact database
_LAST_USED = "ORDER BY used DESC, number DESC LIMIT 1"


class NumberedModel(Model):
    """A model of the store. The row number of an entry's vector is `first` plus the entry's number."""

    def __init__(self, number: int, used: str, model: Model) -> None:
        super().__init__(model.identity, model.provider, model.name, model.dimensions)
        self.number = number
        self.used = used
        self.first = number * SPAN
        self.last = self.first + SPAN - 1
        self.size = code_length(model.dimensions)


class SqlModels:
    """The models in the table. `chosen` is the identity of the one in use; if empty, it is the one used last."""

    def __init__(self, database: SqlDatabase) -> None:
        self._run = database.run
        self.chosen = ""

    def current(self) -> NumberedModel | None:
        """Return the model in use, or None if it has no vectors here."""
        if self.chosen:
            return self._named(self.chosen)
        return next(iter(self._found(_LAST_USED)), None)

    def is_noted(self, model: Model) -> bool:
        """Return True if a model's use was noted today, and no other's since."""
        noted = [(last.identity, last.dimensions, last.used[:10]) for last in self._found(_LAST_USED)]
        return noted == [(model.identity, model.dimensions, utc_text(time.gmtime())[:10])]

    def use(self, model: Model) -> list[NumberedModel]:
        """Choose a model and note its use. Return models whose vectors must go. Needs a transaction.

        These are the model itself if it is new or of another size, and those that nobody has used for long.
        """
        now, known = time.time(), self._named(model.identity)
        stale = self._unused(model.identity, now)
        if known and known.dimensions != model.dimensions:
            stale.append(known)
            known = None
        for each in stale:
            self.forget(each)
        if known:
            self._run("UPDATE models SET used = ? WHERE number = ?", (utc_text(time.gmtime(now)), known.number))
        else:
            stale.append(self.put(model, utc_text(time.gmtime(now))))  # whatever is left where its vectors will be
        self.chosen = model.identity
        return stale

    def forget(self, model: NumberedModel) -> None:
        """Remove a model from the table. Needs a transaction."""
        self._run("DELETE FROM models WHERE number = ?", (model.number,))

    def all(self) -> list[NumberedModel]:
        """Return all models, last used first."""
        return self._found("ORDER BY used DESC, number DESC")

    def _named(self, identity: str) -> NumberedModel | None:
        return next(iter(self._found("WHERE identity = ?", identity)), None)

    def _found(self, where: str, *values: str) -> list[NumberedModel]:
        rows = self._run(f"SELECT {_COLUMNS} FROM models {where}", values)
        if not all(tuple(map(type, row)) == _TYPES for row in rows):
            raise StoreDamaged("the table of models is damaged; `recollect rebuild` makes the database again")
        return [NumberedModel(number, used, Model(*known)) for number, used, *known in rows]

    def put(self, model: Model, used: str) -> NumberedModel:
        """Add a model, with the time of its last use. Needs a transaction."""
        number = self._new_number(model)
        row = (number, used, model.identity, model.provider, model.name, model.dimensions)
        self._run(f"INSERT INTO models ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)
        return NumberedModel(number, used, model)

    def _new_number(self, model: Model) -> int:  # noqa: ARG002 (an engine may number them by what they are)
        """Return a number for a model."""
        taken = {number for (number,) in self._run("SELECT number FROM models")}
        number = max(taken, default=-1) + 1  # the later model, if two were last used in the same second
        if number >= _MOST_NUMBERS:
            number = next(number for number in range(_MOST_NUMBERS) if number not in taken)
        return number

    def _unused(self, identity: str, now: float) -> list[NumberedModel]:
        """Return the models besides this one that nobody has used for long, or that are too many."""
        others = [each for each in self.all() if each.identity != identity]
        oldest = utc_text(time.gmtime(now - _KEPT_SECONDS))
        return [each for place, each in enumerate(others, 2) if place > _MOST_MODELS or each.used < oldest]
