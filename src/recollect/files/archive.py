"""Backup files: gzipped tar archives with a manifest as the first member, listing all other members.

A reader trusts nothing in the archive. Only names known to this module are allowed as members, and each must be a plain
file with the size and hash given in the manifest. A size is checked against its limit before that many bytes are read.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zlib
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeGuard, cast

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.errors import StorageError
from recollect.files.memory import memories
from recollect.files.memory.memories import is_file_name
from recollect.files.textfile import open_regular, write_bytes

FORMAT = "recollect-backup"
VERSION = 1
MANIFEST = "manifest.json"

PROJECT_SETTINGS = "settings/memory-config.json"
LOCAL_SETTINGS = "settings/iflow-dev.local.md"
JOURNAL_FILE = "global/session-captures.jsonl"
USAGE_FILE = "usage.jsonl"

MEMORY, SETTINGS, BANK, GLOBAL, JOURNAL, USAGE = KINDS = ("memory", "settings", "bank", "global", "journal", "usage")
_KIND_OF = {
    PROJECT_SETTINGS: SETTINGS,
    LOCAL_SETTINGS: SETTINGS,
    **{f"{kind}/{category}.md": kind for kind in (BANK, GLOBAL) for category in KNOWLEDGE},
    JOURNAL_FILE: JOURNAL,
    USAGE_FILE: USAGE,
}

_MIB = 1024 * 1024
_MAX_BYTES = {MEMORY: memories.MAX_BYTES, JOURNAL: 256 * _MIB}
_LARGEST_OTHER = 64 * _MIB
_LARGEST_TOTAL = 512 * _MIB
_LARGEST_MANIFEST = 32 * _MIB
_MOST_MEMBERS = 100_000
_LONGEST_TEXT = 4096
_LATEST = 1 << 62  # nanoseconds since 1970, in the year 2116
_BLOCK = tarfile.BLOCKSIZE


@dataclass(frozen=True)
class Member:
    """A file in a backup: its name, its bytes and its modification time in nanoseconds since 1970."""

    name: str
    data: bytes
    modified: int = 0

    @property
    def kind(self) -> str:
        return kind_of(self.name)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "surrogateescape")


@dataclass
class Archive:
    """A backup: its project, the version of recollect, the time of creation and the members."""

    project: str
    identity: str
    recollect_version: str
    created_at: str
    members: list[Member] = field(default_factory=list[Member])

    def of_kind(self, kind: str) -> list[Member]:
        return [member for member in self.members if member.kind == kind]


def kind_of(name: str) -> str:
    """Return the kind of a member by its name, or an empty string for an invalid name."""
    parts = name.split("/")
    if len(parts) == 3 and parts[0] == "memories" and parts[1] in PROJECT and is_file_name(parts[2]):
        return MEMORY
    return _KIND_OF.get(name, "")


def memory_name(category: str, file_name: str) -> str:
    return f"memories/{category}/{file_name}"


def read_member(path: str, name: str) -> Member | None:
    """Read the file at a path as a member called `name`; return None if there is no file.

    Links to memory files are not followed.

    Raises:
        StorageError: the file is not a regular file, is too large, or cannot be read.
    """
    kind = kind_of(name)
    most = _MAX_BYTES.get(kind, _LARGEST_OTHER)
    try:
        with open_regular(path, follow=kind != MEMORY) as file:
            data = file.read(most + 1)
            modified = os.fstat(file.fileno()).st_mtime_ns
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > most:
        raise StorageError(f"{path} is larger than {most // _MIB:,} MiB")
    return Member(name, data, min(max(modified, 0), _LATEST))


def write_archive(path: str, archive: Archive, *, replace: bool = False) -> int:
    """Write a backup atomically, readable by its owner only, and return its size in bytes.

    Raises:
        StorageError: the file exists and `replace` is not set, the backup is too large, or it cannot be written.
    """
    sizes = [len(member.data) for member in archive.members]
    if len(sizes) > _MOST_MEMBERS or sum(sizes) > _LARGEST_TOTAL:
        raise StorageError(
            f"{len(sizes):,} files of {sum(sizes) // _MIB:,} MiB are too much for a backup, which may hold"
            f" {_MOST_MEMBERS:,} files of {_LARGEST_TOTAL // _MIB} MiB; copy the folders instead"
        )
    data = _packed(archive)
    write_bytes(path, data, replace=replace)
    return len(data)


def read_archive(path: str) -> Archive:
    """Read a backup and check every member against the manifest.

    Raises:
        StorageError: the backup does not exist, cannot be read, or is not sound. The message names the member and the
            reason.
    """
    try:
        with open_regular(path) as file, gzip.GzipFile(fileobj=file, mode="rb") as stream:
            if not os.fstat(file.fileno()).st_size:
                raise StorageError(f"{path} is no sound backup: it is empty")
            return _Reading(path, stream).archive()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


class _Reading:
    """The reader of one backup, with the name of the current member for error messages."""

    def __init__(self, path: str, stream: gzip.GzipFile) -> None:
        self._path = path
        self._stream = stream
        self._at = MANIFEST

    def archive(self) -> Archive:
        try:
            archive, files = self._manifest()
            for name, (size, digest, modified) in files.items():
                self._at = name
                data = self._member(name, size)
                if len(data) != size:
                    raise self._unsound(f"it has {len(data):,} bytes instead of {size:,}")
                if sha256(data).hexdigest() != digest:
                    raise self._unsound("its content is not what the manifest tells")
                archive.members.append(Member(name, data, modified))
            self._at = "its end"
            self._rest()
        except EOFError as error:
            raise self._unsound("the file is cut short there") from error
        except (zlib.error, gzip.BadGzipFile) as error:
            began = self._stream.tell() > 0
            raise self._unsound("the file is damaged there" if began else "the file is no gzip file") from error
        return archive

    def _manifest(self) -> tuple[Archive, dict[str, tuple[int, str, int]]]:
        data = self._member(MANIFEST, _LARGEST_MANIFEST)
        try:
            document: Any = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._unsound("it is not valid JSON") from error
        fields = _object(document)
        if fields.get("format") != FORMAT:
            raise self._unsound(f"it is not that of a {FORMAT}")
        version = fields.get("format_version")
        if version != VERSION:
            raise self._unsound(f"its format is {version!r:.20}, and this recollect reads {VERSION}; update recollect")
        project = _object(fields.get("project"))
        said = (project.get("name"), project.get("identity"), fields.get("recollect_version"), fields.get("created_at"))
        if not all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in said):
            raise self._unsound("it does not tell project, recollect_version and created_at")
        return Archive(*cast(tuple[str, str, str, str], said)), self._files(fields.get("files"))

    def _files(self, given: Any) -> dict[str, tuple[int, str, int]]:
        if not isinstance(given, list) or len(cast(list[Any], given)) > _MOST_MEMBERS:
            raise self._unsound(f"files must be a list of at most {_MOST_MEMBERS:,}")
        files: dict[str, tuple[int, str, int]] = {}
        for item in map(_object, cast(list[Any], given)):
            name = item.get("name")
            kind = kind_of(name) if isinstance(name, str) else ""
            if not isinstance(name, str) or not kind or item.get("kind") != kind or name in files:
                raise self._unsound(f"{name!a:.120} is not the name of a file in a backup, or is there twice")
            size, digest, modified = item.get("size"), item.get("sha256"), item.get("modified_ns")
            if not _is_whole(size, _MAX_BYTES.get(kind, _LARGEST_OTHER)) or not _is_whole(modified, _LATEST):
                raise self._unsound(f"size or time of {name} is out of bounds")
            if not isinstance(digest, str):
                raise self._unsound(f"there is no hash of {name}")
            files[name] = (size, digest, modified)
        if sum(size for size, _, _ in files.values()) > _LARGEST_TOTAL:
            raise self._unsound(f"the files have more than {_LARGEST_TOTAL // _MIB} MiB together")
        return files

    def _member(self, name: str, most: int) -> bytes:
        """Return the bytes of the next member; it must have this name and at most `most` bytes."""
        header = self._exactly(_BLOCK)
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise self._unsound("it is missing, or the file is no tar file") from error
        if info.name != name:
            raise self._unsound(f"{info.name!a:.120} stands in its place")
        if info.type != tarfile.REGTYPE:
            raise self._unsound("it is no plain file but a link, a folder or a device")
        if not 0 <= info.size <= most:
            raise self._unsound(f"it has {info.size:,} bytes, and at most {most:,} are expected")
        data = self._exactly(info.size)
        self._exactly(-info.size % _BLOCK)
        return data

    def _rest(self) -> None:
        """Check the end of the tar: two blocks of zeros, then zeros up to a full record, and nothing else."""
        rest = self._stream.read(2 * tarfile.RECORDSIZE)  # gzip compares checksums only at the end of its stream
        if len(rest) == 2 * tarfile.RECORDSIZE or rest.strip(b"\0"):
            raise self._unsound("more follows than the manifest names")

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _unsound(self, why: str) -> StorageError:
        return StorageError(f"{self._path} is no sound backup: {self._at}: {why}")


def _packed(archive: Archive) -> bytes:
    file = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for member in (Member(MANIFEST, _manifest_text(archive).encode()), *archive.members):
            info = tarfile.TarInfo(member.name)
            info.size, info.mode, info.mtime = len(member.data), 0o600, member.modified // 1_000_000_000
            tar.addfile(info, io.BytesIO(member.data))
    return file.getvalue()


def _manifest_text(archive: Archive) -> str:
    document = {
        "format": FORMAT,
        "format_version": VERSION,
        "recollect_version": archive.recollect_version,
        "created_at": archive.created_at,
        "project": {"name": archive.project, "identity": archive.identity},
        "files": [
            {
                "name": member.name,
                "kind": member.kind,
                "size": len(member.data),
                "sha256": sha256(member.data).hexdigest(),
                "modified_ns": member.modified,
            }
            for member in archive.members
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _object(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _is_whole(value: Any, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
