"""What a project's tree says about it, and the judgement that follows from it."""

import json
import os
import subprocess

import pytest

from recollect.promote.candidates import from_json
from recollect.promote.evidence import gather
from recollect.promote.promote import judge


def write(root, files):
    for relative, content in files.items():
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def git(root, *arguments):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)


TREE = {
    "hooks/hooks.json": "{}",
    "hooks/session-start.sh": "build_memory_context() {\n  echo\n}\nROUTES=3\n",
    "src/engine/ranker.py": (
        "class RankingEngine:\n    def rank_entries(self): ...\n\nDEFAULT_WEIGHTS = {}\nmaxRetries: int = 3\n"
    ),
    "src/app.ts": "export function renderCart(x) {}\nconst cartTotal = 1;\n",
    "db/schema.sql": "CREATE TABLE IF NOT EXISTS order_lines (id int);\n",
    "README.md": "# about build_widget_index\n",
    "package.json": "{}",
    "docs/knowledge-bank/patterns.md": "def only_in_the_bank(): pass\n",
    "docs/knowledge-bank/scratch.py": "def only_in_bank_code(): pass\n",
}


@pytest.fixture(params=["with git", "without git"])
def project(request, tmp_path):
    root = tmp_path / "my-ai-setup"
    write(root, TREE)
    if request.param == "with git":
        git(root, "init", "-q")
        git(root, "add", "-A")
    return root


def verdict(root, description, name="A Lesson"):
    [candidate] = from_json(json.dumps({"name": name, "description": description, "category": "heuristics"}))
    return judge(str(root), [candidate])[0]


# ---- the anchoring examples


@pytest.mark.parametrize(
    "text",
    [
        "Always read the target file before writing a parser",
        "Break tasks into one-file-per-task granularity",
        "Bash variable injection in inline Python is fragile",
    ],
)
def test_general_wisdom_is_universal(project, text):
    found = verdict(project, text)
    assert found.universal
    assert str(found).startswith("Universal because: ")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The secretary agent's routing table must match hooks.json matchers", "hooks.json"),
        ("session-start.sh Python subprocess adds ~200ms per call", "session-start.sh"),
        ("The session-start.sh Python subprocess adds ~200ms per call", "session-start.sh"),
    ],
)
def test_wisdom_about_a_file_of_the_project_is_project_specific(project, text, named):
    found = verdict(project, text)
    assert not found.universal
    assert str(found).startswith("Project-specific because: ")
    assert named in found.reason


# ---- names


@pytest.mark.parametrize(
    "text",
    [
        "In my-ai-setup, hooks run twice.",
        "in My-AI-Setup hooks run twice",
        "my_ai_setup hooks run twice",
        "My AI Setup hooks run twice",
        "my.ai.setup hooks run twice",
        "myaisetup hooks run twice",
        "The `my-ai-setup` repository.",
        "(my-ai-setup)",
    ],
)
def test_name_of_the_project_in_any_spelling_is_evidence(project, text):
    found = verdict(project, text)
    assert not found.universal
    assert "my-ai-setup" in found.reason


@pytest.mark.parametrize("text", ["My setup has AI.", "dummy-ai-setups are many", "xmy-ai-setup", "my-ai-setup2"])
def test_text_that_only_resembles_the_name_is_no_evidence(project, text):
    assert verdict(project, text).universal


def test_name_in_the_title_of_an_entry_is_evidence(project):
    assert not verdict(project, "Run hooks once.", name="Hooks of my-ai-setup").universal


@pytest.mark.parametrize("name", ["app", "api", "web", "backend", "my", "x", "Core", "utils", "workspace"])
def test_common_or_short_project_names_are_no_evidence(tmp_path, name):
    (tmp_path / name).mkdir()
    assert verdict(tmp_path / name, f"Restart the {name} after the {name} changed its {name}.").universal


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("pyproject.toml", '[project]\nname = "quokka-engine"\n'),
        ("Cargo.toml", '[package]\nname = "quokka-engine"\n'),
        ("package.json", '{"name": "quokka-engine"}'),
        ("package.json", '{"name": "@acme/quokka-engine"}'),
    ],
)
def test_name_that_a_manifest_declares_is_evidence(tmp_path, file, content):
    write(tmp_path, {file: content})
    assert not verdict(tmp_path, "The quokka engine needs a warm cache.").universal


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", '{"name": 3}', "name", "\udcff", "[" * 50_000, '{"name": "' + "x" * 600_000],
    ids=lambda content: content[:10],
)
def test_damaged_manifests_are_no_evidence_and_no_error(tmp_path, content):
    data = content.encode("utf-8", "surrogateescape")
    write(tmp_path, {"pyproject.toml": data, "package.json": data, "Cargo.toml": data})
    assert verdict(tmp_path, "Warm the cache first.").universal


# ---- files


@pytest.mark.parametrize(
    "text",
    [
        "Change src/engine/ranker.py with care.",
        "Change `engine/ranker.py` with care.",
        "ranker.py sorts twice.",
        "Everything in src/engine is slow.",
        "See ./hooks/hooks.json.",
        "lib/other/thing.rb is generated",
    ],
)
def test_path_of_the_project_is_evidence(project, text):
    assert not verdict(project, text).universal


@pytest.mark.parametrize(
    "text",
    [
        "Keep README.md short.",
        "Pin versions in package.json and pyproject.toml.",
        "Never edit ~/.bashrc from a script.",
        "Files in /etc/hosts.conf or /tmp win.",
        "Use and/or sparingly, and read/write locks rarely.",
        "Use TCP/IP, e.g. v1.2 of it.",
        "Node.js reads .env late.",
    ],
)
def test_common_files_and_things_that_are_no_paths_are_no_evidence(project, text):
    assert verdict(project, text).universal


def test_file_name_that_several_folders_have_is_no_evidence(tmp_path):
    write(tmp_path, {f"docs/features/{number}/plan.md": "" for number in range(3)})
    assert verdict(tmp_path, "Say in plan.md how a change is undone.").universal
    assert not verdict(tmp_path, "Read docs/features/1/plan.md first.").universal
    os.remove(tmp_path / "docs/features/2/plan.md")
    assert not verdict(tmp_path, "Say in plan.md how a change is undone.").universal


@pytest.mark.parametrize(
    "text", ["Use SQLite for it.", "`Docker` caches layers.", "GraphQL and PostgreSQL", "`Python`"]
)
def test_tool_or_language_is_no_evidence_also_where_the_project_has_such_a_name(tmp_path, text):
    code = "SQLite = GraphQL = PostgreSQL = 1\nclass Docker: ...\nclass Python: ...\nPostgreSQL = 2\nGraphQL = 3\n"
    write(tmp_path / "docker", {"a.py": code})
    assert verdict(tmp_path / "docker", text).universal


@pytest.mark.parametrize(
    ("text", "is_universal"), [("A file called random.py shadows it.", True), ("Run roll.py.", False)]
)
def test_file_named_like_a_module_of_python_is_evidence_only_where_there_is_one(tmp_path, text, is_universal):
    assert verdict(tmp_path, text).universal == is_universal
    write(tmp_path, {"random.py": ""})
    assert not verdict(tmp_path, text).universal


# ---- identifiers


@pytest.mark.parametrize(
    "identifier",
    [
        "RankingEngine",
        "rank_entries()",
        "DEFAULT_WEIGHTS",
        "maxRetries",
        "renderCart",
        "cartTotal",
        "order_lines",
        "build_memory_context",
    ],
)
def test_identifier_that_the_tree_defines_is_evidence(project, identifier):
    found = verdict(project, f"Call {identifier} only once.")
    assert not found.universal
    assert identifier.removesuffix("()") in found.reason


@pytest.mark.parametrize(
    "identifier",
    [
        "RecursionError",
        "os_replace",
        "useEffect",
        "__init__",
        "build_widget_index",
        "only_in_the_bank",
        "only_in_bank_code",
    ],
)
def test_identifier_that_no_source_defines_is_no_evidence(project, identifier):
    assert verdict(project, f"Call {identifier} only once.").universal


def test_same_text_is_universal_where_the_identifier_is_not_defined(tmp_path, project):
    (tmp_path / "elsewhere").mkdir()
    assert verdict(tmp_path / "elsewhere", "Call RankingEngine only once.").universal
    assert not verdict(project, "Call RankingEngine only once.").universal


def test_identifier_in_an_ignored_file_is_no_evidence(tmp_path):
    write(tmp_path, {"gen/made.py": "def made_by_tool(): ...\n", ".gitignore": "gen/\n"})
    git(tmp_path, "init", "-q")
    assert verdict(tmp_path, "Call made_by_tool() only once.").universal


def test_identifier_in_installed_packages_is_no_evidence(tmp_path):
    write(tmp_path, {"node_modules/x/index.js": "function leftPadding() {}", ".venv/lib/y.py": "def wheel_tags(): ..."})
    facts = gather(str(tmp_path), {"leftPadding", "wheel_tags"})
    assert facts.identifiers == frozenset()


# ---- addresses


@pytest.fixture
def hosted(tmp_path):
    root = tmp_path / "checkout-7"
    write(root, {"a.txt": ""})
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", "git@github.com:acme/quokka.git")
    return root


@pytest.mark.parametrize(
    "url",
    [
        "https://billing.internal/health",
        "http://db.corp:5432",
        "http://10.0.0.5:8080/x",
        "http://192.168.1.20",
        "http://[fd00::1]/x",
        "https://checkout-7.example.com/login",
        "https://github.com/acme/quokka/issues/3",
        "https://github.com/acme/quokka",
    ],
)
def test_address_of_a_service_of_the_project_is_evidence(hosted, url):
    found = verdict(hosted, f"Ask {url}, then retry.")
    assert not found.universal
    assert url in found.reason


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org/3/library/os.html",
        "http://localhost:11434/api/embed",
        "http://127.0.0.1:8000",
        "http://[::1]:8000",
        "https://github.com/python/cpython",
        "https://8.8.8.8/dns-query",
        "http://[not-an-address",
    ],
)
def test_address_that_anybody_can_ask_is_no_evidence(hosted, url):
    assert verdict(hosted, f"Ask {url}, then retry.").universal


@pytest.mark.parametrize(
    "url", ["http://0.0.0.0:8000", "http://host.docker.internal:3000", "http://169.254.169.254/latest"]
)
def test_address_that_means_the_same_on_every_machine_is_no_evidence(hosted, url):
    assert verdict(hosted, f"Ask {url}, then retry.").universal


def test_another_repository_whose_name_only_begins_alike_is_no_evidence(hosted):
    assert verdict(hosted, "Copy https://github.com/acme/quokkas-and-more/wiki first.").universal


@pytest.mark.parametrize(
    ("remote", "repository"),
    [
        ("git@github.com:acme/quokka.git", "github.com/acme/quokka"),
        ("https://github.com/acme/quokka", "github.com/acme/quokka"),
        ("https://user@git.example.com:8443/team/sub/quokka.git", "git.example.com/team/sub/quokka"),
        ("ssh://git@git.example.com:22/quokka.git", "git.example.com/quokka"),
        ("/srv/git/quokka.git", ""),
    ],
)
def test_repository_is_read_from_any_form_of_remote(tmp_path, remote, repository):
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", remote)
    assert gather(str(tmp_path), ()).repository == repository


# ---- bounds


def test_empty_folder_and_missing_folder_have_no_files(tmp_path):
    for root in (tmp_path, tmp_path / "missing"):
        facts = gather(str(root), {"RankingEngine"})
        assert (facts.files, facts.identifiers, facts.repository) == (frozenset(), frozenset(), "")


def test_empty_repository_has_no_files(tmp_path):
    git(tmp_path, "init", "-q")
    assert gather(str(tmp_path), {"x_y"}).files == frozenset()


def test_binary_file_with_the_name_of_a_source_is_read_without_error(tmp_path):
    write(tmp_path, {"a.py": bytes(range(256)) * 100 + b"\ndef found_anyway(): ...\n"})
    assert gather(str(tmp_path), {"found_anyway"}).identifiers == {"found_anyway"}


def test_huge_source_is_not_read_but_its_name_is_known(tmp_path):
    write(tmp_path, {"big.py": b"#" * 600_000 + b"\ndef too_far_down(): ...\n"})
    facts = gather(str(tmp_path), {"too_far_down"})
    assert facts.identifiers == frozenset()
    assert facts.files == {"big.py"}


def test_link_to_nowhere_and_folder_with_a_source_name_are_passed_over(tmp_path):
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.py").mkdir()
    write(tmp_path, {"folder.py/inner.py": "def deep_down(): ...\n"})
    assert gather(str(tmp_path), {"deep_down"}).identifiers == {"deep_down"}


def test_long_line_of_a_minified_file_is_searched_without_end(tmp_path):
    write(tmp_path, {"min.js": "var a:" + "x" * 400_000 + "\nfunction lastOne(){}\n"})
    assert gather(str(tmp_path), {"lastOne"}).identifiers == {"lastOne"}


def test_more_files_than_are_looked_at_do_not_fail(tmp_path):
    for number in range(20_050):
        (tmp_path / f"f{number:05}.txt").touch()
    assert len(gather(str(tmp_path), ()).files) == 20_000
