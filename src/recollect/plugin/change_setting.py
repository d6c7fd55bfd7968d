"""Change a setting as a person does: its file, the folders that it moves, and the packages that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.config.memory_root import left_behind, memory_root
from recollect.config.needed_extras import needed_extras
from recollect.config.settings import load_settings
from recollect.config.settings_edit import Edit, known_key, set_setting, unset_setting
from recollect.errors import WriteRefused
from recollect.files.memory.memories import MemoryRoot
from recollect.plugin.environment import prepare


@dataclass(frozen=True)
class Changed:
    """A change, with warnings, and a sentence on packages that are being installed for it."""

    edit: Edit
    warnings: list[str]
    news: str = ""


def change_setting(project_root: str, name: str, text: str | None, environ: Mapping[str, str]) -> Changed:
    """Write a setting to its file, or with None take it out.

    Raises:
        InvalidSetting: unknown key, or a value not allowed for it.
        UnsafeEdit: the file cannot be changed without losing something.
        StorageError: the file could not be written.
    """
    name = known_key(name).name
    before = _places(project_root, name)
    edit = unset_setting(project_root, name) if text is None else set_setting(project_root, name, text)
    after = _places(project_root, name)
    warnings = [*left_behind(before, after)] if before and after else []
    if text is None:
        return Changed(edit, warnings)
    if edit.source.startswith("RECOLLECT_"):
        warnings.append(f"{edit.source} is set in the environment and overrides the file")
    if not name.endswith("_provider"):
        return Changed(edit, warnings)
    return Changed(edit, warnings, prepare(environ, needed_extras(load_settings(project_root)), asked=True))


def _places(project_root: str, name: str) -> MemoryRoot | None:
    """Return the memory root if the setting can move it or its folders, else None."""
    if name != "memory_root" and not name.endswith(".folder"):
        return None
    try:
        return memory_root(project_root, load_settings(project_root))
    except WriteRefused:
        return None
