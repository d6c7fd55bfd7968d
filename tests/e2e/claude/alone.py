"""Run a command in a network namespace that has nothing but loopback: unshare -rn python alone.py CHANNEL COMMAND...

A socket belongs to the namespace that it was made in. The one that the command's only service listens on is made here
and handed over through CHANNEL (the number of a connected Unix socket), so that the service itself can run outside.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1

# An address on the internet, one on a private network and one of a link; nothing answers at any of them.
_ELSEWHERE = ("203.0.113.1", "10.0.0.1", "169.254.169.254")


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _ways_out() -> list[str]:
    """The interfaces besides loopback, and the addresses that packets could be sent to."""
    ways = [name for _, name in socket.if_nameindex() if name != "lo"]
    for address in _ELSEWHERE:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((address, 443))
            except OSError:
                continue
            ways.append(address)
    return ways


def main() -> None:
    _bring_loopback_up()
    if ways := _ways_out():
        sys.exit(f"this is no namespace of its own: {', '.join(ways)} can be reached")
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        socket.send_fds(channel, [b"."], [listener.fileno()])
    os.environ["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 (a shell would only be one more process)


if __name__ == "__main__":
    main()
