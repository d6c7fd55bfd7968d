"""For whom a store on a server is used, and within what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Acting:
    """The user for whom a process acts, with bounds. They only ever narrow what the user's membership allows.

    What is stored goes to `scope`; empty for the user's own. Only the scopes in `read` are found; all of the user's if
    it is empty. Nothing is done that needs more than `role`; empty for the user's own roles. `token` is the number of
    the token by which the user asks, if there is one: it must be valid whenever something is done.
    """

    user: str
    scope: str = ""
    read: tuple[str, ...] = ()
    role: str = ""
    token: str = ""
