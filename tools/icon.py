"""Draw the plugin's icon: plugin/.claude-plugin/icon.png, 512 pixels square, three cards of which the first is lit.

python tools/icon.py [FILE]
"""

from __future__ import annotations

import os
import struct
import sys
import zlib

SIZE = 512
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ICON = os.path.join(TOP, "plugin", ".claude-plugin", "icon.png")

BACKGROUND = (24, 38, 58)
# Left, top, right, bottom and colour of each card, the one behind first.
CARDS = (
    ((152, 104, 432, 284), (62, 88, 124)),
    ((116, 166, 396, 346), (104, 140, 186)),
    ((80, 228, 360, 408), (246, 196, 88)),
)
LINES = ((116, 276, 324, 292), (116, 312, 324, 328), (116, 348, 248, 364))
RADIUS = 24


def inside(x: int, y: int, box: tuple[int, int, int, int], radius: int) -> bool:
    """Whether a pixel is in a box with round corners."""
    left, top, right, bottom = box
    across = max(left + radius - x, x - (right - 1 - radius), 0)
    down = max(top + radius - y, y - (bottom - 1 - radius), 0)
    return across * across + down * down <= radius * radius


def colour(x: int, y: int) -> tuple[int, int, int]:
    found = BACKGROUND
    for box, card in CARDS:
        if inside(x, y, box, RADIUS):
            found = card
    return BACKGROUND if any(inside(x, y, line, 6) for line in LINES) else found


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png() -> bytes:
    rows = b"".join(b"\0" + bytes(value for x in range(SIZE) for value in colour(x, y)) for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else ICON, "wb") as file:
        file.write(png())
