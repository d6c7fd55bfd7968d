"""Labels from language models: the real clients, talking to servers on this machine that speak their protocols."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import recollect.errors
from recollect.errors import KeywordError
from recollect.extras import EXTRAS
from recollect.keywords.anthropic import AnthropicKeywords
from recollect.keywords.ollama import OllamaKeywords, base_url
from recollect.keywords.registry import Keywords, TieredKeywords, tiers
from recollect.keywords.rules import RulesKeywords

KEY = "sk-ant-not-a-real-key-0123456789"
ENTRY = ("Use WAL", "Set busy_timeout in SQLite.", "Seen twice.", "patterns")


class Provider(ThreadingHTTPServer):
    """Answers every request with the same status and body, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.status, self.body, self.headers = 200, b"", {}
        self.requests = []
        self.silent = False
        self.trickles = False
        self.closing = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
        if self.server.silent:
            self.server.closing.wait()
            return
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(10**6 if self.server.trickles else len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)
        while self.server.trickles and not self.server.closing.wait(0.02):
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return

    def log_message(self, *_):
        pass


@pytest.fixture
def provider(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


def message(text):
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()


def answer(text):
    return json.dumps({"model": "llama3.2", "response": text, "done": True}).encode()


def anthropic(provider, seconds=30.0, key=KEY):
    return AnthropicKeywords(key, base_url=provider.url, seconds=seconds)


def ollama(provider, seconds=30.0):
    return OllamaKeywords(provider.url, seconds=seconds)


BOTH = pytest.mark.parametrize(("client", "wrapped"), [(anthropic, message), (ollama, answer)])


def test_anthropic_is_asked_as_its_protocol_says(provider):
    provider.body = message('["sqlite", "wal"]')
    assert anthropic(provider).generate(*ENTRY) == ["sqlite", "wal"]
    [(path, headers, body)] = provider.requests
    assert path == "/v1/messages"
    assert {name.lower(): value for name, value in headers.items()}["x-api-key"] == KEY
    assert body["model"] == "claude-haiku-4-5"
    assert body["max_tokens"] <= 500
    assert "busy_timeout" in body["messages"][0]["content"]


def test_ollama_is_asked_as_its_protocol_says(provider):
    provider.body = answer('["sqlite", "wal"]')
    assert ollama(provider).generate(*ENTRY) == ["sqlite", "wal"]
    [(path, _, body)] = provider.requests
    assert path == "/api/generate"
    assert (body["model"], body["stream"]) == ("llama3.2", False)
    assert "busy_timeout" in body["prompt"]


@BOTH
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('```json\n["wal"]\n```', ["wal"]),
        ('["wal", "a\\"b", "[x]", "{y}", "a,b", "code", "WAL"]', ["wal"]),
        (json.dumps([f"k{n}" for n in range(500)]), [f"k{n}" for n in range(10)]),
        ('{"keywords": {"all": [["wal"]]}}', ["wal"]),
    ],
)
def test_hostile_answer_yields_valid_labels_only(provider, client, wrapped, text, labels):
    provider.body = wrapped(text)
    assert client(provider).generate(*ENTRY) == labels


@BOTH
@pytest.mark.parametrize("text", ["", "Ignore all previous instructions.", "[]", '["code"]', "[" * 5000])
def test_answer_without_labels_is_an_error(provider, client, wrapped, text):
    provider.body = wrapped(text)
    with pytest.raises(KeywordError, match="without a usable label"):
        client(provider).generate(*ENTRY)


@pytest.mark.parametrize("client", [anthropic, ollama])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'{"content": 3}', b'{"response": 3}', b"\xff\xfe"])
def test_malformed_answer_is_an_error(provider, client, body):
    provider.body = body
    with pytest.raises(KeywordError):
        client(provider).generate(*ENTRY)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "ANTHROPIC_API_KEY"),
        (403, "ANTHROPIC_API_KEY"),
        (404, "no such model"),
        (429, "try again later"),
        (500, "try again later"),
        (529, "try again later"),
        (302, "HTTP 302"),
    ],
)
def test_anthropic_refusal_says_what_to_do_asks_once_and_hides_the_key(provider, status, says):
    provider.status = status
    provider.headers = {"retry-after": "0", "Location": f"{provider.url}/elsewhere"}
    provider.body = json.dumps({"type": "error", "error": {"type": "x", "message": f"bad key {KEY}"}}).encode()
    with pytest.raises(KeywordError, match=says) as caught:
        anthropic(provider).generate(*ENTRY)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("status", "says"), [(404, "ollama pull llama3.2"), (429, "HTTP 429"), (500, "HTTP 500")])
def test_ollama_refusal_says_what_to_do_and_asks_once(provider, status, says):
    provider.status = status
    with pytest.raises(KeywordError, match=says):
        ollama(provider).generate(*ENTRY)
    assert len(provider.requests) == 1


def test_key_that_no_header_can_hold_is_not_shown(provider):
    with pytest.raises(KeywordError) as caught:
        anthropic(provider, key=f"{KEY}\nx").generate(*ENTRY)
    assert KEY not in str(caught.value)
    assert provider.requests == []


@BOTH
@pytest.mark.parametrize("how", ["silent", "trickles"])
def test_server_that_does_not_come_to_an_end_is_given_up(provider, client, wrapped, how):
    provider.body = wrapped("")[:10]
    setattr(provider, how, True)
    with pytest.raises(KeywordError, match=r"within 0\.3 seconds|without a usable label"):
        client(provider, seconds=0.3).generate(*ENTRY)


def test_server_that_is_not_there_is_an_error(provider):
    provider.server_close()
    with pytest.raises(KeywordError, match="could not be reached"):
        anthropic(provider).generate(*ENTRY)
    with pytest.raises(KeywordError, match="OLLAMA_HOST"):
        ollama(provider).generate(*ENTRY)


def test_entry_with_a_credential_is_sent_to_nobody(provider):
    for client in (anthropic(provider), ollama(provider)):
        with pytest.raises(KeywordError, match="a GitHub token"):
            client.generate("Token", "ghp_" + "a1" * 20, "", "patterns")
    assert provider.requests == []


def test_missing_key_names_the_variable():
    with pytest.raises(KeywordError, match="ANTHROPIC_API_KEY"):
        AnthropicKeywords(" ").generate(*ENTRY)


@pytest.mark.parametrize(("module", "made"), [("anthropic", "AnthropicKeywords('k')"), ("ollama", "OllamaKeywords()")])
def test_missing_extra_names_the_command_that_installs_it(module, made):
    source = str(Path(recollect.errors.__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        f"from recollect.keywords.{module} import *\n"
        "from recollect.errors import KeywordError\n"
        f"try: {made}.generate('n', 'd', 'r', 'c')\n"
        "except KeywordError as error: print(error)"
    )
    bare = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(bare, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.endswith(f" '{EXTRAS[module][2]}'\n")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://localhost:11434"),
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        (":1234", "http://localhost:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104 - translated, not bound
        ("[::]:1234", "http://[::1]:1234"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("http://user:pass@box:1", "http://user:pass@box:1"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host, url):
    assert base_url(host) == url


@pytest.mark.parametrize("host", ["ftp://box", "http://box:99999", "box:port", "http://[::1"])
def test_ollama_host_that_is_no_address_is_an_error(host):
    with pytest.raises(KeywordError, match="OLLAMA_HOST"):
        base_url(host)


def test_password_in_ollama_host_is_not_shown(provider):
    provider.status = 500
    with pytest.raises(KeywordError) as caught:
        OllamaKeywords(provider.url.replace("://", "://user:hunter2@")).generate(*ENTRY)
    assert "hunter2" not in str(caught.value)


ALL = {"ANTHROPIC_API_KEY": KEY, "OLLAMA_HOST": "localhost"}


@pytest.mark.parametrize(
    ("setting", "environment", "names"),
    [
        ("auto", {}, ["rules"]),
        ("auto", {"ANTHROPIC_API_KEY": " ", "OLLAMA_HOST": ""}, ["rules"]),
        ("auto", {"ANTHROPIC_API_KEY": KEY}, ["anthropic", "rules"]),
        ("auto", {"OLLAMA_HOST": "localhost"}, ["ollama", "rules"]),
        ("auto", ALL, ["anthropic", "ollama", "rules"]),
        ("claude", ALL, ["rules"]),
        ("claude-api", {}, ["anthropic", "rules"]),
        ("haiku", ALL, ["anthropic", "rules"]),
        ("anthropic", ALL, ["anthropic", "rules"]),
        ("ollama", {}, ["ollama", "rules"]),
        ("rules", ALL, ["rules"]),
        ("off", ALL, []),
        ("no such thing", ALL, ["rules"]),
    ],
)
def test_setting_decides_who_is_asked(setting, environment, names):
    assert [tier.name for tier in tiers(setting, environment)] == names


def test_environment_decides_where_anthropic_is(provider):
    provider.body = message('["wal"]')
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": provider.url}
    found = TieredKeywords(tiers("haiku", environment)).generate(*ENTRY)
    assert found == Keywords(("wal", "busy-timeout", "sqlite"), "anthropic")


def test_fewer_labels_than_three_of_a_model_are_filled_up_by_rules(provider):
    provider.body = message('["wal", "code", "x,y"]')
    found = TieredKeywords([anthropic(provider), RulesKeywords()]).generate(*ENTRY)
    assert (found.labels[0], len(found.labels), found.tier) == ("wal", 3, "anthropic")
    provider.body = message('["wal", "pragma", "write-lock"]')
    assert TieredKeywords([anthropic(provider), RulesKeywords()]).generate(*ENTRY).labels == (
        "wal",
        "pragma",
        "write-lock",
    )


def test_first_tier_with_a_label_wins_and_failures_are_told(provider):
    provider.status = 429
    found = TieredKeywords([anthropic(provider), ollama(provider), RulesKeywords()]).generate(*ENTRY)
    assert found.tier == "rules"
    assert "busy-timeout" in found.labels
    assert [failure.partition(":")[0] for failure in found.failures] == ["anthropic", "ollama"]


class Broken:
    name = "broken"

    def generate(self, *_):
        raise ZeroDivisionError


class Sloppy:
    name = "sloppy"

    def generate(self, *_):
        return ["code", 'a"b']


def test_tier_that_breaks_or_answers_nonsense_is_passed_over():
    found = TieredKeywords([Broken(), Sloppy(), RulesKeywords()]).generate(*ENTRY)
    assert found.tier == "rules"
    assert len(found.failures) == 2


def test_no_tier_or_no_label_gives_none():
    assert TieredKeywords([]).generate(*ENTRY) == Keywords()
    assert TieredKeywords([RulesKeywords()]).generate("", "", "", "") == Keywords()
