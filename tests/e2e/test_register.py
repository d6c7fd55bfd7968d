"""`recollect init --client` and its undoing, in the files of clients as people have them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.conftest import RECOLLECT, World, run_without_rights

from recollect.plugin.register_clients import CLIENTS

ANYWHERE = ["mcp"]
IN_WORKSPACE = ["mcp", "--project-root", "${workspaceFolder}"]

# The client, its options, its file, where in it the entry is, and what the entry says beyond the command.
CASES: list[tuple[str, list[str], str, str, list[str]]] = [
    ("codex", [], "home/.codex/config.toml", "mcp_servers", ANYWHERE),
    ("cursor", [], "project/.cursor/mcp.json", "mcpServers", IN_WORKSPACE),
    ("cursor", ["--user"], "home/.cursor/mcp.json", "mcpServers", IN_WORKSPACE),
    ("gemini", [], "project/.gemini/settings.json", "mcpServers", ANYWHERE),
    ("gemini", ["--user"], "home/.gemini/settings.json", "mcpServers", ANYWHERE),
    ("opencode", [], "project/opencode.json", "mcp", ANYWHERE),
    ("opencode", ["--user"], "home/.config/opencode/opencode.json", "mcp", ANYWHERE),
    ("vscode", [], "project/.vscode/mcp.json", "servers", IN_WORKSPACE),
    ("windsurf", [], "home/.codeium/windsurf/mcp_config.json", "mcpServers", ANYWHERE),
    ("zed", [], "home/.config/zed/settings.json", "context_servers", ANYWHERE),
]
if sys.platform == "darwin":
    place = "home/Library/Application Support/Claude/claude_desktop_config.json"
    CASES.append(("claude-desktop", [], place, "mcpServers", ANYWHERE))


def place_of(world: World, path: str) -> Path:
    top, _, rest = path.partition("/")
    return (world.home if top == "home" else world.project) / rest


def read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def called(case: tuple[str, list[str], str, str, list[str]]) -> str:
    return " ".join([case[0], *case[1]])


each_client = pytest.mark.parametrize("case", CASES, ids=called)


@each_client
def test_entry_is_written_once_and_uninstalled(world: World, case: tuple[str, list[str], str, str, list[str]]) -> None:
    client, options, path, section, arguments = case
    file = place_of(world, path)
    first = world.run("init", "--client", client, *options)
    assert first.returncode == 0, first.stderr
    assert f"{file}  {section}.recollect" in first.stdout
    entry = read(file)[section]["recollect"]
    words = [entry["command"], *entry["args"]] if "args" in entry else entry["command"]
    assert words == [RECOLLECT, *arguments]
    assert {key: entry[key] for key in entry.keys() - {"command", "args"}} == {
        "vscode": {"type": "stdio"},
        "opencode": {"type": "local"},
    }.get(client, {})

    before = files(world.home)
    again = world.run("init", "--client", client, *options)
    assert (again.returncode, "nothing was changed" in again.stdout) == (0, True)
    assert files(world.home) == before

    removed = world.run("uninstall", "--yes")
    assert (removed.returncode, removed.stderr) == (0, "")
    assert f"{file}  {section}.recollect" in removed.stdout
    assert not file.exists()
    assert world.project.exists()


@each_client
def test_what_else_a_file_holds_is_as_it_was_afterwards(
    world: World, case: tuple[str, list[str], str, str, list[str]]
) -> None:
    client, options, path, section, _ = case
    file = place_of(world, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".toml":
        text = f"# Mine.\n[{section}.recollection]\ncommand = 'recollect'\nargs = ['mcp']\n"
    else:
        text = (
            json.dumps({section: {"recollection": {"command": "recollect", "args": ["mcp"]}}, "é": [1]}, indent=3)
            + "\n"
        )
    file.write_text(text, encoding="utf-8")
    file.chmod(0o640)
    assert world.run("init", "--client", client, *options).returncode == 0
    assert set(read(file)[section]) == {"recollect", "recollection"}
    assert file.stat().st_mode & 0o777 == 0o640
    assert world.run("uninstall", "--yes").returncode == 0
    assert file.read_text(encoding="utf-8") == text


def test_every_client_has_a_case() -> None:
    assert {case[0] for case in CASES} | {"claude-desktop"} == set(CLIENTS)


def test_shared_files_get_the_bare_name_where_that_leads_here(world: World) -> None:
    path = f"{Path(RECOLLECT).parent}{os.pathsep}{os.environ['PATH']}"
    for options, expected in (([], "recollect"), (["--user"], RECOLLECT)):
        done = world.run("init", "--client", "cursor", *options, "--json", PATH=path)
        assert json.loads(done.stdout)["command"][0] == expected


def test_the_plugins_command_registers_its_launcher_and_says_that_it_moves(world: World, tmp_path: Path) -> None:
    launcher = Path(__file__).parents[2] / "plugin" / "bin" / "recollect"
    data = tmp_path / "data"
    data.mkdir()
    (data / "interpreter").write_text(f"{sys.executable}\n", encoding="utf-8")
    done = subprocess.run(
        [launcher, "init", "--client", "windsurf"],
        cwd=world.project,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "CLAUDE_PLUGIN_DATA": str(data)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "after an update of the plugin" in done.stdout
    entry = read(world.home / ".codeium" / "windsurf" / "mcp_config.json")["mcpServers"]["recollect"]
    assert Path(entry["command"]).samefile(launcher)


def test_json_and_dry_run_tell_what_would_be(world: World) -> None:
    file = world.project / ".cursor" / "mcp.json"
    shown = world.run("init", "--client", "cursor", "--dry-run")
    assert shown.returncode == 0
    assert f"+++ {file}" in shown.stdout
    assert '+    "recollect": {' in shown.stdout
    planned = json.loads(world.run("init", "--client", "cursor", "--dry-run", "--json").stdout)
    assert (planned["outcome"], planned["written"]) == ("added", False)
    assert not file.parent.exists()
    done = json.loads(world.run("init", "--client", "cursor", "--json").stdout)
    assert (done["path"], done["what"], done["outcome"], done["written"]) == (
        str(file),
        "mcpServers.recollect",
        "added",
        True,
    )
    again = json.loads(world.run("init", "--client", "cursor", "--json").stdout)
    assert (again["outcome"], again["written"]) == ("unchanged", False)


def test_an_entry_of_another_installation_is_updated_and_keeps_what_was_added(world: World) -> None:
    file = world.project / ".cursor" / "mcp.json"
    file.parent.mkdir()
    old = {"command": "/old/bin/recollect", "args": ["mcp"], "env": {"RECOLLECT_HOME": "/home/dev/store"}}
    file.write_text(json.dumps({"mcpServers": {"recollect": old}}), encoding="utf-8")
    done = world.run("init", "--client", "cursor")
    assert "Updated the server" in done.stdout
    assert read(file)["mcpServers"]["recollect"] == {**old, "command": RECOLLECT, "args": IN_WORKSPACE}


def test_a_server_of_our_name_that_is_something_else_is_left_alone(world: World) -> None:
    file = world.project / ".cursor" / "mcp.json"
    file.parent.mkdir()
    text = json.dumps({"mcpServers": {"recollect": {"command": "npx", "args": ["recollect-the-game"]}}})
    file.write_text(text, encoding="utf-8")
    done = world.run("init", "--client", "cursor")
    assert (done.returncode, "something else" in done.stderr) == (1, True)
    assert world.run("uninstall", "--yes").returncode == 0
    assert file.read_text(encoding="utf-8") == text


def test_unknown_clients_are_told_the_known_ones(world: World) -> None:
    done = world.run("init", "--client", "emacs")
    assert done.returncode == 2
    for name in (*CLIENTS, "claude-code", "other"):
        assert f"'{name}'" in done.stderr


@pytest.mark.parametrize(
    "arguments", ["--client cursor --scope user", "--client cursor --claude x", "--user", "--dry-run"]
)
def test_options_of_the_wrong_client_are_refused(world: World, arguments: str) -> None:
    assert world.run("init", *shlex.split(arguments)).returncode == 2


def test_other_prints_what_to_paste_and_changes_nothing(world: World) -> None:
    done = world.run("init", "--client", "other")
    assert json.loads(done.stdout) == {"mcpServers": {"recollect": {"command": RECOLLECT, "args": ["mcp"]}}}
    assert files(world.home) == {}


def test_user_settings_of_vs_code_are_left_to_it(world: World) -> None:
    done = world.run("init", "--client", "vscode", "--user")
    assert done.returncode == 1
    assert '"servers"' in done.stderr


def test_configured_folders_are_followed(world: World, tmp_path: Path) -> None:
    for client, variable, path in (
        ("codex", "CODEX_HOME", "config.toml"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ):
        folder = tmp_path / client
        assert world.run("init", "--client", client, **{variable: str(folder)}).returncode == 0
        assert (folder / path).exists()
        removed = world.run("uninstall", "--yes", **{variable: str(folder)})
        assert (removed.returncode, (folder / path).exists()) == (0, False)


def test_a_file_with_the_other_name_is_used_if_it_is_there(world: World) -> None:
    (world.project / "opencode.jsonc").write_text("{}", encoding="utf-8")
    assert world.run("init", "--client", "opencode").returncode == 0
    assert not (world.project / "opencode.json").exists()
    assert "recollect" in read(world.project / "opencode.jsonc")["mcp"]


def a_directory(file: Path) -> None:
    file.mkdir()


def a_pipe(file: Path) -> None:
    os.mkfifo(file)


def a_link_that_leads_out(file: Path) -> None:
    target = file.parents[3] / "elsewhere.json"
    target.write_text("{}", encoding="utf-8")
    file.symlink_to(target)


def a_huge_one(file: Path) -> None:
    file.write_text(json.dumps({"a": "b" * 2_000_000}), encoding="utf-8")


def with_comments(file: Path) -> None:
    file.write_text('{\n  // mine\n  "mcpServers": {},\n}\n', encoding="utf-8")


def an_array(file: Path) -> None:
    file.write_text("[]", encoding="utf-8")


def no_json(file: Path) -> None:
    file.write_bytes(b"\xff\x00{")


@pytest.mark.parametrize(
    "make",
    [a_directory, a_pipe, a_link_that_leads_out, a_huge_one, with_comments, an_array, no_json],
    ids=lambda make: make.__name__,
)
def test_a_file_that_cannot_be_changed_safely_is_not_changed(world: World, make: Callable[[Path], None]) -> None:
    file = world.project / ".cursor" / "mcp.json"
    file.parent.mkdir()
    make(file)
    before = files(world.home.parent)
    done = world.run("init", "--client", "cursor")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(file) in done.stderr
    assert files(world.home.parent) == before
    if make in (with_comments, an_array, no_json):
        assert '"recollect": {' in done.stderr, "what to add by hand is shown"
    assert world.run("uninstall", "--yes").returncode == 0
    assert files(world.home.parent) == before


def test_an_entry_beside_comments_is_left_to_the_person_who_uninstalls(world: World) -> None:
    file = world.home / ".config" / "zed" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(
        '{\n  // mine\n  "context_servers": {"recollect": {"command": "recollect", "args": ["mcp"]}}\n}',
        encoding="utf-8",
    )
    done = world.run("uninstall", "--yes")
    assert done.returncode == 1
    assert f"context_servers.recollect from {file}" in done.stderr
    assert "by hand" in done.stderr


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_written_is_not(what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # where somebody without rights gets, unlike in the tests' own
        home = Path(folder)
        home.chmod(0o755)
        file = home / "shop" / ".cursor" / "mcp.json"
        file.parent.mkdir(parents=True)
        file.write_text("{}", encoding="utf-8")
        (file if what == "file" else file.parent).chmod(0o444 if what == "file" else 0o555)
        done = run_without_rights(
            ["init", "--client", "cursor"], [home], cwd=home / "shop", environment={"HOME": str(home)}
        )
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert str(file.parent) in done.stderr
        assert file.read_text(encoding="utf-8") == "{}"
        assert sorted(path.name for path in file.parent.iterdir()) == ["mcp.json"]


def test_a_link_within_the_home_is_followed_and_stays_one(world: World) -> None:
    kept = world.home / "dotfiles" / "mcp.json"
    kept.parent.mkdir()
    kept.write_text("{}", encoding="utf-8")
    link = world.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    assert world.run("init", "--client", "cursor", "--user").returncode == 0
    assert "recollect" in read(kept)["mcpServers"]
    assert world.run("uninstall", "--yes").returncode == 0
    assert link.is_symlink()
    assert kept.exists()


@pytest.mark.parametrize("client", ["cursor", "vscode", "gemini"])
def test_what_was_written_starts_a_server(world: World, client: str) -> None:
    planned = json.loads(world.run("init", "--client", client, "--json").stdout)
    section, _, name = planned["what"].partition(".")
    entry = read(Path(planned["path"]))[section][name]
    arguments = [word.replace("${workspaceFolder}", str(world.project)) for word in entry["args"]]
    server = StdioServerParameters(
        command=entry["command"],
        args=arguments,
        cwd=world.project,
        env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store), "PATH": os.environ["PATH"]},
    )

    async def listed() -> set[str]:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return {tool.name for tool in (await session.list_tools()).tools}

    assert anyio.run(listed) == {
        "store_memory",
        "search_memory",
        "get_memories",
        "list_memories",
        "forget_memory",
    }


def test_a_workspace_that_the_client_did_not_fill_in_counts_as_none(world: World) -> None:
    done = world.run("list", "--project-root", "${workspaceFolder}", "--json")
    assert (done.returncode, done.stderr) == (0, "")
