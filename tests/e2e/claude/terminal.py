"""A terminal that the client runs on: keys go in, and a screen comes out, as a person sees it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte
from tests.chance import again
from tests.conftest import PATIENCE, until
from tests.e2e.claude.api import Api, Reply, Request, Turn

# Nothing scrolls off a screen of this height, and few lines are broken.
_ROWS, COLUMNS = 100, 140

_INPUT = "❯"
_SHIFT_TAB = "\x1b[Z"
_CLEAR_LINE = "\x15"
_CHOICE = "Enter to select"
_MOMENT = 0.3

# What the client writes down when a server has answered, and at the end of a turn.
_CONNECTED = "Successfully connected"
_TURN = '"subtype":"turn_duration"'


class Screen:
    """The screen of a pseudo-terminal; `theirs` is the end for the program that is shown on it."""

    def __init__(self, columns: int = COLUMNS) -> None:
        self._ours, self.theirs = pty.openpty()
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
        self._screen = pyte.Screen(columns, _ROWS)
        self._screen.write_process_input = self.press  # what a program asks its terminal
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        """Show what comes, once the program has its end of the terminal."""
        os.close(self.theirs)
        self._reader.start()

    def close(self) -> None:
        """Show the rest, after the program has ended."""
        if self._reader.is_alive():
            self._reader.join(PATIENCE)
        os.close(self._ours)

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    @property
    def text(self) -> str:
        """The lines that are shown, without the empty ones."""
        with self._lock:
            lines = [line.rstrip() for line in self._screen.display]
        return "\n".join(line for line in lines if line)

    @property
    def rows(self) -> list[list[pyte.screens.Char]]:
        """All rows, with the style of each character."""
        with self._lock:
            return [
                [row[place] for place in range(self._screen.columns)]
                for row in map(self._screen.buffer.get, range(_ROWS))
                if row
            ]

    @property
    def words(self) -> str:
        """The same on one line, so that a sentence is found wherever the client breaks it."""
        return " ".join(self.text.split())

    def _read(self) -> None:
        stream = pyte.ByteStream(self._screen)
        while True:
            try:
                data = os.read(self._ours, 65536)
            except OSError:
                return  # how Linux says that the other end of a terminal is closed: the client has ended
            if not data:
                return
            with self._lock:
                stream.feed(data)


class Session:
    """A person's session with the client on a terminal.

    The person begins when recollect's server has been connected, and the model does not answer at once. In a hurry,
    the client has neither the tools nor the prompt in its transcript.
    """

    def __init__(self, transcripts: Path, connections: Path, script: Sequence[Reply], columns: int = COLUMNS) -> None:
        self.api = Api([self._in_time(reply) for reply in script])
        self.screen = Screen(columns)
        self.is_open = True
        self._transcripts = Rows(transcripts, self.screen)
        self._connections = Rows(connections, self.screen)
        self._prompt = ""

    @property
    def requests(self) -> list[Request]:
        return self.api.requests

    def begin(self) -> None:
        """Wait for a client that was just started."""
        self.screen.start()
        self.wait_for(_INPUT)
        self._connections.wait_for_another(_CONNECTED)

    def say(self, prompt: str) -> None:
        """Give a prompt, and wait for the end of the turn."""
        self.give(prompt)
        self._transcripts.wait_for_another(_TURN)

    def give(self, prompt: str) -> None:
        """Give a prompt."""
        self._prompt = prompt
        self._transcripts.look()
        self.type(prompt)

    def type(self, line: str) -> None:
        """Type a line, and press Enter when it is in the input box: earlier it would be a part of a paste."""
        self.screen.press(line)
        self.wait_for(f"{_INPUT} {line}")
        self.screen.press("\r")

    def choose_first(self) -> None:
        """Take the first answer to a question. The client overhears keys in the first moment after it asks."""
        self.wait_for(_CHOICE)

        def is_chosen() -> bool:
            if _CHOICE in self.screen.words:
                again()
                self.screen.press("\r")
                time.sleep(_MOMENT)
            return _CHOICE not in self.screen.words

        until(is_chosen, lambda: f"the question is still there:\n{self.screen.text}")

    def switch_to(self, mode: str) -> None:
        """Press shift+tab until the client says that it is in a permission mode."""

        def is_in_it() -> bool:
            shown = self.screen.text.splitlines()[-1]
            if mode not in shown:
                self.screen.press(_SHIFT_TAB)
                until(lambda: self.screen.text.splitlines()[-1] != shown, lambda: f"no answer to shift+tab: {shown}")
            return mode in self.screen.text.splitlines()[-1]

        until(is_in_it, lambda: f"no {mode!r} to be had:\n{self.screen.text}")

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.screen.words, lambda: f"no {text!r} on the screen:\n{self.screen.text}")

    def wait_for_requests(self, number: int) -> None:
        """Wait until the model was asked this often."""
        until(lambda: len(self.requests) >= number, lambda: f"no request {number}:\n{self.screen.text}")

    def leave(self, process: subprocess.Popen[str]) -> None:
        """End the session as a person does; a client that is slow may show the last command once more."""
        self.screen.press(_CLEAR_LINE)
        until(lambda: not self._is_typed(), lambda: f"the input box is not empty:\n{self.screen.text}")
        self.type("/exit")
        process.wait(PATIENCE)

    def _is_typed(self) -> bool:
        """Whether the last prompt is in the input box."""
        boxes = [line for line in self.screen.text.splitlines() if line.startswith(_INPUT)]
        return bool(self._prompt and boxes) and self._prompt.splitlines()[0] in boxes[-1]

    def close_window(self) -> None:
        """End the session without a word, as somebody does who is asked too much."""
        self.is_open = False

    def _in_time(self, reply: Reply) -> Reply:
        def answer(request: Request) -> Turn:
            unhurried = self._transcripts.unhurried(self._prompt, reply)
            return unhurried(request)

        return answer


class Rows:
    """What the client writes into a folder of its own, row by row."""

    def __init__(self, folder: Path, screen: Screen | None = None) -> None:
        self._folder = folder
        self._screen = screen
        self.look()

    def look(self) -> None:
        """Count from here on."""
        self._seen = self._text()

    def wait_for_another(self, mark: str) -> None:
        """Wait until a text was written once more."""
        known = self._seen.count(mark)
        until(
            lambda: self._text().count(mark) > known,
            lambda: f"no {mark!r} was written\n{self._screen and self._screen.text}",
        )

    def unhurried(self, prompt: str, reply: Reply) -> Callable[[Request], Turn]:
        """Answer when the client has written the prompt down; a real model takes longer than that."""

        def answer(request: Request) -> Turn:
            is_command = prompt.startswith("/")
            content = f'"content":{json.dumps(prompt, ensure_ascii=False)}'
            self.wait_for_another(f"<command-name>{prompt.split(maxsplit=1)[0]}<" if is_command else content)
            return reply(request) if callable(reply) else reply

        return answer

    def _text(self) -> str:
        paths = sorted(self._folder.glob("*.jsonl"))
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)
