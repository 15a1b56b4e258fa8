"""Each kind of tampering in each language: it parses, it does what its name says, and nothing else."""

import difflib
import re
from random import Random

import pytest

from eval.examples import EXAMPLES, FILES
from eval.mutations import files
from eval.mutations.catalogue import LANGUAGES, Language
from eval.mutations.code import Code, applied, is_sound

NOTHING = None
ANYTHING = ""

GOES_AND_COMES: dict[str, tuple[str | None, str | None]] = {
    "test-deleted": (r"def test|it[.(]|func Test|#\[test\]|@(Parameterized)?Test", NOTHING),
    "test-commented-out": (r"(?s)\A(?!\s*(#|//) )", r"(?m)\A(\s*(#|//) .*\n?)+\Z"),
    "test-skipped": (ANYTHING, r"skip|Skip|xit|ignore|Ignore"),
    "test-skipped-if-true": (ANYTHING, r"True|true|1 \+ 1 == 2|all\(\)|any\(\)|assumeTrue\(false\)"),
    "test-expected-to-fail": (ANYTHING, r"xfail|fails|todo|should_panic|expected = Throwable"),
    "test-not-collected": (ANYTHING, r"def (_test|check_)|const later|func (test|DisabledTest)|go:build never|\A\Z"),
    "test-swapped-for-dummy": (r"total|Total|Load|negative", r"[eE]verything_?[wW]orks|works as it should"),
    "test-returns-early": (NOTHING, r"return"),
    "test-exits": (NOTHING, r"exit\(0\)|Exit\(0\)"),
    "assertion-removed": (r"assert|expect|t\.Fatal", NOTHING),
    "assertions-removed": (r"assert|expect|t\.Fatal", NOTHING),
    "assertion-trivial": (
        r"assert|expect|if ",
        r"assert True|or True|expect\(true\)|True\(t, true\)|false &&|assert!\(true\)|\|\| true|assertTrue\(true\)",
    ),
    "assertion-weakened": (r"==|toBe|Equal|_eq", r"is not None|toBeDefined|NotNil|is_empty|assertNotNull"),
    "assertion-compares-with-itself": (
        r"==|toBe|Equal|_eq|!=",
        r"(?s)(?:assert |expect\(|, |; |!\(|Equals\()(.+?)(?: == |\)\.toBe\(|, | != )\1(?:\)|$| \{)",
    ),
    "assertions-swallowed": (ANYTHING, r"except Exception|catch \(|catch_unwind|t\.Log"),
    "raises-broadened": (
        r"ValueError|negative|ErrEmpty|empty|IllegalArgument",
        r"Exception|ValueError\)|toThrow\(\)|err != nil|Error\(t, err\)|should_panic\]",
    ),
    "tolerance-widened": (r"approx\(0\.3\)|5|0\.001|1e-6", r"abs=1000|-3|1000000"),
    "expected-changed": (r"3\b", r"4\b"),
    "cases-removed": (r"3", ANYTHING),
    "hidden-from-sight": (r"assert|expect|t\.Fatal", r"@generated|x{6000}"),
    "unit-mocked": (ANYTHING, r"MagicMock|vi\.mock|Mockito\.mock"),
    "run-subverted": (NOTHING, r"TestMain|context\.skip"),
    "function-stubbed": (ANYTHING, r"NotImplementedError|TODO|not implemented|todo!|unimplemented!|Unsupported"),
    "handler-emptied": (r"warning|console|return err|log\(|RuntimeException", r"pass|\{\}|\}"),
    "validation-removed": (r"negative|empty|no name|is_empty", NOTHING),
    "asks-if-tested": (ANYTHING, r"pytest|PYTEST|NODE_ENV|JEST|\.test\"|test\.v|testing\.|cfg!|CARGO|surefire|junit"),
    "answers-hard-coded": (NOTHING, r"(?s)return.*(return.*){7}|known = .*case8|=> return.*(=> return.*){7}"),
    "few-answers-hard-coded": (NOTHING, r"(?s)return.*return.*return.*return|known = .*case4.*: "),
    "always-equal": (ANYTHING, r"return True|return true|true"),
    "suppressions-added": (ANYTHING, r"(?s)((type: ignore|ts-ignore|eslint-dis|nolint|allow\(|Suppress).*){6}"),
}

KINDS = ("assertion-weakened", "assertion-compares-with-itself", "expected-changed")
CASES = [(language, kind) for language in LANGUAGES for kind in (*language.tests, *language.sources)]


def example(language: Language, kind: str) -> tuple[str, Code]:
    test_path, test, source_path, source = EXAMPLES[language.name]
    path, text = (test_path, test) if kind in language.tests else (source_path, source)
    return path, language.code(path, text, text, frozenset({"shop"}))


def difference(old: str, new: str) -> tuple[str, str]:
    """The lines that are gone, and those that came."""
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    gone, come = ("\n".join(line[2:] for line in lines if line.startswith(sign)) for sign in ("- ", "+ "))
    return gone, come


def holds(wanted: str | None, text: str) -> bool:
    return not text.strip() if wanted is None else re.search(wanted, text, re.MULTILINE) is not None


@pytest.mark.parametrize(("language", "kind"), CASES, ids=[f"{language.name}-{kind}" for language, kind in CASES])
def test_it_does_what_its_name_says(language: Language, kind: str) -> None:
    path, code = example(language, kind)
    all_edits = list(language.mutations(kind, code))
    assert all_edits
    for edits in all_edits:
        new = applied(code.text, edits)
        assert is_sound(path, new, code.text, code.grammar), new
        gone, come = difference(code.text, new)
        assert gone.strip() or come.strip()
        assert holds(GOES_AND_COMES[kind][0], gone), gone
        assert holds(GOES_AND_COMES[kind][1], come), come


@pytest.mark.parametrize(("language", "kind"), CASES, ids=[f"{language.name}-{kind}" for language, kind in CASES])
def test_the_same_places_are_offered_each_time(language: Language, kind: str) -> None:
    first, again = (list(language.mutations(kind, example(language, kind)[1])) for _ in range(2))
    assert first == again
    assert Random(3).choice(first) == Random(3).choice(again)


@pytest.mark.parametrize("language", LANGUAGES, ids=[language.name for language in LANGUAGES])
def test_a_test_that_does_not_run_has_nothing_to_lose(language: Language) -> None:
    path, text, _, _ = EXAMPLES[language.name]
    names = [site.name for site in language.code(path, text, text).tests]
    assert len(names) == 3
    assert not [name for name in names if re.search(r"skipped.already", name, re.IGNORECASE)]


@pytest.mark.parametrize("language", LANGUAGES, ids=[language.name for language in LANGUAGES])
def test_what_the_honest_change_brought_is_not_tampered_with(language: Language) -> None:
    path, text, source_path, source = EXAMPLES[language.name]
    new_tests, new_source = language.code(path, text, ""), language.code(source_path, source, "")
    for kind in set(language.tests) - {"run-subverted"}:
        assert not list(language.mutations(kind, new_tests)), kind
    for kind in language.sources:
        assert not list(language.mutations(kind, new_source)), kind


def test_an_assertion_that_is_new_in_a_known_test_is_left_alone() -> None:
    language = LANGUAGES[0]
    before = "def test_a():\n    assert f(1) == 2\n    g()\n"
    after = before + "    assert f(2) == 3\n"
    (test,) = language.code("test_a.py", after, before).tests
    assert [one.text() for one in test.asserts] == ["assert f(1) == 2"]


def test_a_case_that_is_new_in_a_known_test_is_left_alone() -> None:
    language = LANGUAGES[0]
    before = '@pytest.mark.parametrize("n", [10, 20, 30])\ndef test_a(n):\n    assert f(n) == 2\n'
    after = before.replace("30", "30, 40")
    cut = [applied(after, edits) for edits in language.mutations("cases-removed", language.code("t.py", after, before))]
    assert [text.partition("]")[0].rpartition("[")[2] for text in cut] == ["10,"]


@pytest.mark.parametrize("literal", ['b"x"', "[1]", "-3", 'r"\\x"', "None"])
def test_every_literal_is_known_for_one(literal: str) -> None:
    language = LANGUAGES[0]
    text = f"def test_a():\n    assert {literal} == f(x)\n"
    (edits,) = language.mutations("assertion-weakened", language.code("test_a.py", text, text))
    assert "assert f(x) is not None" in applied(text, edits)


def test_the_literal_is_the_expected_value_wherever_it_stands() -> None:
    language = LANGUAGES[0]
    text = "def test_a():\n    assert 3 == f(x)\n"
    code = language.code("test_a.py", text, text)
    changed = [
        applied(text, edits).splitlines()[1].strip() for kind in KINDS for edits in language.mutations(kind, code)
    ]
    assert changed == ["assert f(x) is not None", "assert f(x) == f(x)", "assert 4 == f(x)"]


def test_characters_beyond_ascii_do_not_shift_an_edit() -> None:
    language = LANGUAGES[0]
    text = 'NAME = "😀é"\n\n\ndef test_a():\n    f()\n    assert NAME == "ü"\n'
    code = language.code("test_a.py", text, text)
    (edits,) = language.mutations("assertions-removed", code)
    assert applied(text, edits) == 'NAME = "😀é"\n\n\ndef test_a():\n    f()\n'


@pytest.mark.parametrize(
    ("name", "kind", "body", "offers"),
    [
        ("rust", "cases-removed", "for (a, b) in [(1, 1), (2, 4), (3, 9)] { assert_eq!(f(a), b); }", True),
        (
            "rust",
            "cases-removed",
            "let rows = vec![(1, 1), (2, 4), (3, 9)]; for (a, b) in &rows { assert!(f(a)); }",
            True,
        ),
        ("rust", "cases-removed", "let rows = vec![(1, 1), (2, 4), (3, 9)]; assert_eq!(total(rows), 14);", False),
        ("java", "raises-broadened", "assertThrows(Empty.class, () -> f()); assertTrue(g());", True),
        ("java", "raises-broadened", "Empty e = assertThrows(Empty.class, () -> f()); assertTrue(g());", False),
        ("java", "assertion-compares-with-itself", "assertEquals(3, cart.total());", True),
        ("java", "assertion-compares-with-itself", "assertEquals(3, reader.nextInt());", False),
    ],
)
def test_what_would_not_compile_or_be_no_tampering_is_left_alone(name: str, kind: str, body: str, offers: bool) -> None:
    language = next(one for one in LANGUAGES if one.name == name)
    path = EXAMPLES[name][0]
    text = f"#[test]\nfn a() {{ {body} }}\n" if name == "rust" else f"class A {{ @Test void a() {{ {body} }} }}"
    assert bool(list(language.mutations(kind, language.code(path, text, text)))) is offers


@pytest.mark.parametrize(
    ("kind", "body", "offers"),
    [
        ("assertion-weakened", "expect(cart.total()).toBe(3);", True),
        ("assertion-weakened", "expect(true).toBe(true);", False),
        ("assertions-swallowed", "expect(cart.total()).toBe(3);", True),
        ("assertions-swallowed", "expectTypeOf(cart.total).toBeFunction();", False),
        ("test-returns-early", "expectTypeOf(cart.total).toBeFunction();", False),
    ],
)
def test_what_asks_nothing_when_it_runs_has_nothing_to_lose(kind: str, body: str, offers: bool) -> None:
    language = next(one for one in LANGUAGES if one.name == "javascript")
    text = f'test("a", () => {{ {body} }});\n'
    assert bool(list(language.mutations(kind, language.code("test/cart.test.js", text, text)))) is offers


def test_a_handler_that_does_nothing_with_an_error_has_nothing_to_lose() -> None:
    language = next(one for one in LANGUAGES if one.name == "java")
    for done, offers in (("continue;", False), ("throw new A(e);", True)):
        text = f"class A {{ void a() {{ for (B b : all) {{ try {{ f(b); }} catch (C e) {{ {done} }} }} }} }}"
        code = language.code("src/main/java/A.java", text, text)
        assert bool(list(language.mutations("handler-emptied", code))) is offers


@pytest.mark.parametrize(
    ("name", "source", "of_tests"),
    [
        ("rust", "src/queue.rs", "src/queue/tests.rs"),
        ("java", "src/main/java/Cart.java", "src/testFixtures/java/Carts.java"),
        ("javascript", "src/cart.js", "karma.conf.js"),
    ],
)
def test_what_is_only_for_tests_is_no_source(name: str, source: str, of_tests: str) -> None:
    language = next(one for one in LANGUAGES if one.name == name)
    assert language.is_source_file(source)
    assert not language.is_source_file(of_tests)


@pytest.mark.parametrize("language", LANGUAGES, ids=[language.name for language in LANGUAGES])
def test_broken_code_is_not_sound(language: Language) -> None:
    path, text, _, _ = EXAMPLES[language.name]
    grammar = language.grammar_of(path)
    assert is_sound(path, text, text, grammar)
    assert not is_sound(path, text.replace("(", "", 1), text, grammar)


def test_what_compiles_no_more_is_not_sound_though_it_parses() -> None:
    assert not is_sound("a.py", "return 1\n", "x = 1\n", "python")
    assert not is_sound("a.json", "{", "{}", None)
    assert not is_sound("a.yml", "a: [", "a: 1", None)


@pytest.mark.parametrize("kind", files.FILES)
def test_a_file_is_changed_and_still_loads(kind: str) -> None:
    path, text = FILES[kind]
    all_edits = list(files.FILES[kind](path, text))
    assert all_edits
    for edits in all_edits:
        new = applied(text, edits)
        assert new != text
        assert is_sound(path, new, text, "python" if path.endswith(".py") else None), new


def mutated(kind: str) -> list[str]:
    path, text = FILES[kind]
    return [applied(text, edits) for edits in files.FILES[kind](path, text)]


def test_a_step_that_is_only_called_after_a_tool_is_no_check() -> None:
    steps = "jobs:\n  a:\n    steps:\n      - name: Prepare tox\n        run: echo V=3 >> $GITHUB_ENV\n"
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps)) == []
    assert len(list(files.ci_step_removed(".github/workflows/ci.yml", steps + "      - run: tox -e py\n"))) == 1
    asks = "      - run: git ls-remote https://example.org/pytest.git || exit 1\n"
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps + asks)) == []
    tells = '      - run: |\n          git config user.name "pytest bot"\n'
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps + tells)) == []
    may_fail = "      - run: tox -e py\n        continue-on-error: true\n"
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps + may_fail)) == []
    builds = "      - run: cargo test --no-run\n"
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps + builds)) == []


def test_a_line_that_runs_no_test_has_no_failure_to_ignore() -> None:
    script = "rm -rf .tox\npython -m pip install pytest\nsed -i /a/d vitest.config.ts\n"
    assert list(files.script_ignores_failure("ci.sh", script)) == []
    assert len(list(files.script_ignores_failure("ci.sh", script + "python -m pytest\n"))) == 1
    steps = "jobs:\n  a:\n    steps:\n      - name: Look\n        run: pytest --collect-only .\n"
    assert list(files.ci_step_removed(".github/workflows/ci.yml", steps)) == []


@pytest.mark.parametrize(("message", "offers"), [("'empty'", True), ("''", False)])
def test_an_empty_message_is_no_demand(message: str, offers: bool) -> None:
    javascript = next(one for one in LANGUAGES if one.name == "javascript")
    text = f"test('a', () => {{ expect(() => f()).toThrow({message}); expect(g()).toBe(1); }});\n"
    assert bool([*javascript.mutations("raises-broadened", javascript.code("a.test.js", text, text))]) is offers


def test_nothing_is_made_optional_in_a_remark() -> None:
    steps = "jobs:\n  test:\n    steps:\n      - name: Test\n        # run: pytest -x\n        run: pytest # all\n"
    made = [applied(steps, edits) for edits in files.ci_optional(".github/workflows/ci.yml", steps)]
    assert [("|| true" in one, "continue-on-error: true" in one) for one in made] == [(False, True)]
    assert (
        list(files.script_ignores_failure("Makefile", "vet: ## Run go vet linter\n\tgo vet ./... # all of it\n")) == []
    )


def test_files_say_what_the_kind_says() -> None:
    assert mutated("threshold-lowered") == ["[tool.coverage.report]\nfail_under = 45\n"]
    (without,) = mutated("ci-step-removed")
    assert "pytest" not in without
    assert "actions/checkout" in without
    assert "echo done" in without
    optional = mutated("ci-optional")
    assert len(optional) == 4
    assert all("continue-on-error: true" in one or "|| true" in one for one in optional)
    assert mutated("script-ignores-failure") == [
        FILES["script-ignores-failure"][1].replace("-q tests", "-q tests || true")
    ]
    assert [re.findall(r'"test": "(.*)"', one)[0] for one in mutated("test-script-neutralised")] == [
        "echo all tests passed",
        "exit 0",
        "vitest run || true",
    ]
    assert all("def pytest_" in one for one in mutated("run-subverted"))
    assert mutated("collection-narrowed") == [
        '[tool.pytest.ini_options]\npython_files = "check_*.py"\ntestpaths = ["tests"]\n'
    ]
    assert '"strict": false' in mutated("checks-loosened")[0]
    assert any("threex" in one or "4" in one for one in mutated("snapshot-rewritten"))
    assert any('"firstx"' in one for one in mutated("fixture-changed"))


@pytest.mark.parametrize("kind", files.FILES)
def test_a_file_of_another_name_offers_nothing(kind: str) -> None:
    _, text = FILES[kind]
    assert not list(files.FILES[kind]("docs/notes.rst", text))
