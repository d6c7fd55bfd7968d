"""Help texts: commands in groups, whole sentences, and no word or date broken at the end of a line."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

import click

_NO_BREAK = "\u2011"  # a hyphen at which no line ends
_UNLIMITED = 10_000


class _Formatter(click.HelpFormatter):
    def write_text(self, text: str) -> None:
        super().write_text(_unbroken(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        narrow = min(col_max, self.width // 3)
        whole = [(self._fitting(first), _unbroken(second)) for first, second in rows]
        super().write_dl(whole, narrow, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_NO_BREAK, "-")

    def _fitting(self, names: str) -> str:
        """Break a long list of choices between two of them."""
        room = self.width - self.current_indent
        if len(names) <= room:
            return names
        indent = " " * (self.current_indent + 4)
        lines = wrap(_unbroken(names).replace("|", "| "), room, break_long_words=False)
        return f"\n{indent}".join(lines).replace("| ", "|")


class Group(click.Group):
    """A group of commands with its commands' first sentences uncut, under a heading for each group of them."""

    def grouped(self, ctx: click.Context) -> dict[str, list[str]]:
        """Return the names of the commands under each heading."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.list_commands(ctx)))
        for heading, names in self.grouped(ctx).items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), self.first_sentence(ctx, name)) for name in names])

    def first_sentence(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a command's help."""
        command = self.get_command(ctx, name)
        return short_help(command) if command else ""


def short_help(command: click.Command) -> str:
    """Return the first sentence of a command's help, uncut."""
    return command.get_short_help_str(_UNLIMITED)


def _unbroken(text: str) -> str:
    return text.replace("-", _NO_BREAK)


click.Context.formatter_class = _Formatter
