import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.promote.classify import ProjectFacts, Verdict, classify, identifiers_in

NOTHING = ProjectFacts()
FACTS = ProjectFacts(
    names=frozenset({"iflow-dev", "app", "api"}),
    files=frozenset(
        {
            "hooks/session-start.sh",
            "hooks/hooks.json",
            "hooks/lib/common.sh",
            "src/billing/invoices/totals.py",
            "README.md",
            "Makefile",
            "pyproject.toml",
            "src/main.py",
        }
    ),
    identifiers=frozenset({"read_local_md_field", "BillingPlan"}),
    repository="github.com/acme/iflow",
)


@pytest.mark.parametrize(
    "text",
    [
        "Always read the target file before writing a parser",
        "Break tasks into one-file-per-task granularity",
        "Bash variable injection in inline Python is fragile",
    ],
)
def test_the_specification_s_universal_examples_are_universal(text: str) -> None:
    verdict = classify(text, FACTS)
    assert verdict.universal
    assert str(verdict) == "Universal because: it names no file, identifier, service or name of this project"


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("The secretary agent's routing table must match hooks.json matchers", "hooks.json"),
        ("The session-start.sh Python subprocess adds ~200ms per call", "session-start.sh"),
    ],
)
def test_the_specification_s_project_examples_are_project_specific(text: str, evidence: str) -> None:
    verdict = classify(text, FACTS)
    assert not verdict.universal
    assert str(verdict) == f"Project-specific because: it names {evidence}, which is part of this project"


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Edit hooks/lib/common.sh first.", "hooks/lib/common.sh"),
        ("Edit lib/common.sh first", "lib/common.sh"),
        ("Look at ./hooks/hooks.json.", "hooks/hooks.json"),
        ("Everything in src/billing/invoices is generated", "src/billing/invoices"),
        ("Everything in billing/invoices/ is generated", "billing/invoices"),
        ("`totals.py` rounds twice", "totals.py"),
    ],
)
def test_a_path_that_the_project_has_makes_a_lesson_project_specific(text: str, evidence: str) -> None:
    verdict = classify(text, FACTS)
    assert not verdict.universal
    assert f"it names {evidence}, which is part" in verdict.reason


def test_a_path_to_a_file_is_project_specific_even_when_the_file_is_gone() -> None:
    verdict = classify("The cache in server/legacy/cache.go leaks", NOTHING)
    assert not verdict.universal
    assert verdict.reason == "it names the file server/legacy/cache.go"


@pytest.mark.parametrize(
    "text",
    [
        "Keep README.md short",
        "Put every target into the Makefile",
        "Declare dependencies in pyproject.toml",
        "Keep src/main.py thin",
        "Check input/output and/or client/server code",
        "Read /etc/hosts and ~/.bashrc first",
        "Rename other.js when in doubt",
        "Version 1.2.3 of the library broke e.g. sorting.",
    ],
)
def test_files_that_say_nothing_about_a_project_leave_a_lesson_universal(text: str) -> None:
    assert classify(text, FACTS).universal


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Run iflow-dev twice", "iflow-dev"),
        ("IFLOW_DEV must be set", "iflow-dev"),
        ("In iflow dev, wait", "iflow-dev"),
        ("iflowdev's cache", "iflow-dev"),
    ],
)
def test_the_project_s_name_makes_a_lesson_project_specific(text: str, name: str) -> None:
    assert classify(text, FACTS) == Verdict(False, f"it names {name}, this project")


@pytest.mark.parametrize("text", ["The app needs an api", "biflow-devs", "iflow-device drivers"])
def test_common_words_and_parts_of_words_are_not_the_project_s_name(text: str) -> None:
    assert classify(text, FACTS).universal


@pytest.mark.parametrize("name", ["", "-", "...", "abc"])
def test_a_name_that_is_too_short_to_tell_names_nothing(name: str) -> None:
    assert classify("abc - ... and so on", ProjectFacts(names=frozenset({name}))).universal


@pytest.mark.parametrize("text", ["Use read_local_md_field for that", "`BillingPlan` must stay frozen"])
def test_an_identifier_that_the_project_defines_makes_a_lesson_project_specific(text: str) -> None:
    verdict = classify(text, FACTS)
    assert not verdict.universal
    assert verdict.reason.endswith(", which this project defines")


@pytest.mark.parametrize("text", ["Use os_path_join for that", "Prefer dataclasses to NamedTuple", "billingplan"])
def test_an_identifier_from_elsewhere_leaves_a_lesson_universal(text: str) -> None:
    assert classify(text, FACTS).universal


@pytest.mark.parametrize(
    "url",
    [
        "https://wiki.corp/page",
        "http://metrics.internal:9090/x",
        "http://10.1.2.3/health",
        "http://192.168.0.7:8080",
        "https://iflow-dev.example.com/login",
    ],
)
def test_a_service_of_the_project_makes_a_lesson_project_specific(url: str) -> None:
    assert classify(f"Ask ({url}).", FACTS) == Verdict(False, f"it names {url}, a service of this project")


def test_the_project_s_repository_makes_a_lesson_project_specific() -> None:
    verdict = classify("See https://github.com/acme/iflow/pull/7.", FACTS)
    assert verdict == Verdict(False, "it names https://github.com/acme/iflow/pull/7, this project's repository")


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org/3/library/os.html",
        "http://localhost:8000/x.py",
        "http://127.0.0.1/a/b.txt",
        "https://github.com/other/thing",
        "http://[broken",
    ],
)
def test_a_public_address_leaves_a_lesson_universal(url: str) -> None:
    assert classify(f"Read {url} first", FACTS).universal


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("snake_case and camelCase and PascalCase", ["snake_case", "camelCase", "PascalCase"]),
        ("call close() and setUp() at the end", []),
        ("MAX_SIZE of an HTTPServer", ["MAX_SIZE", "HTTPServer"]),
        ("Plain words, Capitalised ones and SHOUTING", []),
        ("__init__ and __all__", []),
        ("twice_named then twice_named", ["twice_named"]),
        ("at https://example.com/some_path/someThing", []),
        ("", []),
    ],
)
def test_identifiers_in_text_are_the_words_that_look_like_code(text: str, found: list[str]) -> None:
    assert identifiers_in(text) == found


@settings(deadline=None)
@given(st.text())
def test_without_facts_only_an_address_or_a_file_path_can_make_a_text_project_specific(text: str) -> None:
    verdict = classify(text, NOTHING)
    assert verdict.universal or "://" in text or ("/" in text and "." in text)
    assert verdict.reason


@pytest.mark.parametrize("text", ["Use Node.js/Express.js here.", "Works in v1.x/v2.x alike.", "See e.g./i.e. above."])
def test_classify_takes_no_pair_of_dotted_words_for_a_path(text: str) -> None:
    assert classify(text, ProjectFacts()).universal


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The session-start.sh Python subprocess adds ~200ms per call", "session-start.sh"),
        ("Fail over to db.prod.internal by hand", "db.prod.internal"),
        ("Postgres listens on 10.1.2.3:5432", "10.1.2.3"),
    ],
)
def test_classify_sees_scripts_and_private_machines_that_the_tree_does_not_have(text: str, named: str) -> None:
    verdict = classify(text, ProjectFacts())
    assert not verdict.universal
    assert named in verdict.reason


@pytest.mark.parametrize("text", ["Keep setup.py small", "Addresses such as 10.0.0.0/8 are private", "Prefer Node.js"])
def test_classify_takes_what_every_project_has_for_universal(text: str) -> None:
    assert classify(text, ProjectFacts()).universal


def test_classify_sees_a_class_of_one_word_in_backticks() -> None:
    facts = ProjectFacts(identifiers=frozenset({"Dispatcher"}))
    assert not classify("Flush the `Dispatcher` before closing", facts).universal
    assert classify("A dispatcher needs a flush", facts).universal


def test_classify_takes_a_common_name_deep_in_the_project_for_evidence() -> None:
    facts = ProjectFacts(files=frozenset({"src/billing/models.py", "src/main.py"}))
    assert not classify("Split src/billing/models.py by table", facts).universal
    assert classify("Keep src/main.py and models.py small", facts).universal
