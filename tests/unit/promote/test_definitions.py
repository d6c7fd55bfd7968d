"""Names that sources define, told from names in comments, texts and imports."""

import os
from functools import partial

import pytest
from tests.conftest import cpu_seconds

from recollect.promote.definitions import defined_names, is_source

TESTS = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
QUAYMASTER = os.path.join(TESTS, "data", "promotion", "quaymaster")


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("pricing/tariff.py", "SQLite TIDE_WINDOW TariffTable __init__ price_at quote_berth surcharge_for"),
        ("allocator/allocate.go", "AssignSlot BerthAllocator ErrDraughtExceeded SlotStore slotLength"),
        ("decoder/src/lib.rs", "AisFrame MAX_FRAME NmeaError decode_sentence fmt"),
        ("web/src/board.tsx", "BerthSlot GraphQL renderBoard useTideClock"),
        ("scripts/reseed-berths.sh", "GOMAXPROCS PYTHONUNBUFFERED QM_TENANT reseed_berths wait_for_harbour"),
        ("db/schema.sql", "berth_booking berth_booking_once tide_at"),
    ],
)
def test_source_defines_its_names_and_none_of_its_comments(file: str, names: str) -> None:
    with open(os.path.join(QUAYMASTER, file), encoding="utf-8") as source:
        assert sorted(defined_names(file, source.read())) == names.split()


@pytest.mark.parametrize(
    ("ending", "code", "names"),
    [
        ("py", "x = 'def in_text(): ...'\nfrom a import class_of\nclass Inner(Base): pass", {"x", "Inner"}),
        ("py", "def f():\n    local_name = 1\n    return other == 2", {"f"}),
        ("ts", "import { type AbortSignal,\n  type Other } from 'x';\nexport type Cart = {};", {"Cart"}),
        ("ts", "class Desk {\n  async openDrawer(key: string): Promise<void> {\n  }\n}", {"Desk", "openDrawer"}),
        ("ts", "function f() {\n  const inside = 1;\n}\nexport const outside = `class Text`;", {"f", "outside"}),
        ("go", 'var (\n\tErrGone = errors.New("type Told")\n)\nfunc f() {\n\tx := `func No`\n}\n', {"ErrGone", "f"}),
        ("rs", "use std::mod_name;\nimpl Desk { pub(crate) fn open_it<'a>(x: &'a str) {} }", {"open_it"}),
        ("java", "import a.Other;\npublic class Desk {\n  static final int MOST = 3;\n}", {"Desk", "MOST"}),
        ("java", "  int sum(int a) throws Gone {\n    return plus(a);\n  }", {"sum"}),
        ("sh", "# helper() {\nexport CART_HOST=a\nclean_up () {\n echo 'function no'\n}", {"CART_HOST", "clean_up"}),
        ("sql", 'create unique index concurrently if not exists public."by_name" on t (a);', {"by_name"}),
        ("rb", "# class Comment\nmodule Desk\n  def open_drawer\n  end\nend", {"Desk", "open_drawer"}),
        ("kt", "import a.b\nfun openDrawer() { withTimeout(5) { } }", {"openDrawer"}),
    ],
)
def test_definition_is_told_from_text_import_and_call(ending: str, code: str, names: set[str]) -> None:
    assert defined_names(f"a.{ending}", code) == names


@pytest.mark.parametrize(
    ("path", "is_own"),
    [
        ("src/app.py", True),
        ("App.TSX", True),
        ("README.md", False),
        ("types/dom.d.ts", False),
        ("web/jquery.min.js", False),
        ("vendor/lib/a.go", False),
        ("third_party/x.c", False),
        ("vendor.go", True),
    ],
)
def test_declarations_and_copies_of_others_define_nothing(path: str, is_own: bool) -> None:
    assert is_source(path) == is_own


_HOSTILE = ["'", '"', "(", "a", "/*", "\\", "`", " \n", "\n", "def ", "static final ", "a(", "export ", "x=\n"]
_HOSTILE += ["import {\n", "import (\n", "type (", "const (\n", '"""', "a (x\n", "create table ", "public a,", "{"]


@pytest.mark.parametrize("ending", ["py", "ts", "java", "go", "rs", "sh", "sql", "rb"])
def test_hostile_source_takes_no_more_than_its_size_allows(ending: str) -> None:
    for text in _HOSTILE:
        little, much = (
            cpu_seconds(partial(defined_names, f"a.{ending}", (text * n)[:n]), 1) for n in (25_000, 200_000)
        )
        assert much < 20 * max(little, 0.01), text  # eight times the size; sixty-four if it were quadratic
