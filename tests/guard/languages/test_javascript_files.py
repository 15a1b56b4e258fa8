"""What a whole file in JavaScript or TypeScript says to tools and to a test run."""

from textwrap import dedent

import pytest
from ast_grep_py import SgRoot

from untilproven.guard.facts import Facts
from untilproven.guard.languages import javascript


def facts_of(source: str, path: str = "src/cart.ts") -> Facts:
    return javascript.facts(SgRoot(dedent(source), "typescript").root(), path)


@pytest.mark.parametrize(
    "comment",
    [
        "// eslint-disable-next-line no-console",
        "/* eslint-disable */",
        "// @ts-ignore",
        "// @ts-expect-error wrong on purpose",
        "// @ts-nocheck",
        "/* istanbul ignore next */",
        "/* c8 ignore start */",
        "// biome-ignore lint: why",
        "// $FlowFixMe",
    ],
)
def test_suppressions(comment: str) -> None:
    assert facts_of(f"{comment}\nf()").suppressions == (comment,)


def test_prose_about_a_linter_suppresses_nothing() -> None:
    assert not facts_of("// eslint is right about this\nf('// @ts-ignore')").suppressions


def test_todos() -> None:
    assert facts_of("// TODO: later\n/* FIXME\n   soon */\n// XXX").todos == (
        "// TODO: later",
        "/* FIXME soon */",
        "// XXX",
    )
    assert not facts_of("// todos are listed here\nconst TODO = 1").todos


@pytest.mark.parametrize(
    ("comment", "is_test"),
    [
        ("// it('adds', () => {\n//   expect(f()).toBe(1)\n// })", True),
        ("// flaky, see below\n// it('adds', () => {\n//   expect(f()).toBe(1)\n// })", True),
        ("/*\ntest('adds', () => {\n  expect(f()).toBe(1)\n})\n*/", True),
        ("// expect(f()).toBe(1)", False),
        ("// const x = f();", False),
        ("// if (!x) {\n//   throw new Error()\n// }", False),
    ],
)
def test_code_in_comments(comment: str, is_test: bool) -> None:
    (found,) = facts_of(f"f()\n{comment}\ng()").commented
    assert found.is_test is is_test
    assert found.text.strip()


@pytest.mark.parametrize(
    "comment",
    [
        "// see load(path)",
        "// This is called by the server, before anything else (or never).",
        "// note",
        "// e.g. cart.total() is the sum",
        "/** @example\n * const x = f();\n */",
        "// https://example.com/a;b",
        "// the total; always positive",
        "//",
    ],
)
def test_prose_in_comments(comment: str) -> None:
    assert not facts_of(f"{comment}\nf()").commented


def test_where_commented_code_begins() -> None:
    (found,) = facts_of("f()\n// flaky\n// it('adds', () => {\n//   f()\n// })").commented
    assert (found.line, found.lines) == (3, 3)


@pytest.mark.parametrize(
    ("source", "hooks"),
    [
        ("globalThis.it = () => {}", ("globalThis.it",)),
        ("global.expect = lenient", ("global.expect = lenient",)),
        ("assert.strictEqual = () => {}", ("assert.strictEqual",)),
        ("expect.extend({ toBe() { return { pass: true } } })", ("expect.extend(toBe)",)),
        ("process.exit = () => {}", ("process.exit",)),
        ("Mocha.Runner.prototype.run = function () {}", ("Mocha.Runner.prototype.run",)),
        ("Object.defineProperty(globalThis, 'expect', { value: f })", ("globalThis.expect",)),
        ("process.on('exit', () => { process.exitCode = 0 })", None),
        ("export async function globalSetup() {}", ("globalSetup",)),
        ("expect.extend({ toBeACart() {} })", ()),
        ("jasmine.DEFAULT_TIMEOUT_INTERVAL = 1000", ()),
        ("cart.total = () => 1", ()),
        ("test.parent = suite", ()),
        ("process.exitCode = 1", ()),
        ("beforeEach(() => {})", ()),
    ],
)
def test_what_takes_hold_of_a_run(source: str, hooks: tuple[str, ...] | None) -> None:
    found = facts_of(source, "test/setup.ts").hooks
    assert found if hooks is None else found == hooks


PUT_BACK = """
    const leave = process.exit
    process.exit = code => { left = code }
    main(['--help'])
    process.exit = leave
"""


@pytest.mark.parametrize(
    "source",
    [
        f"it('leaves', () => {{ {PUT_BACK} }})",
        f"describe('main', () => {{ it('leaves', () => {{ {PUT_BACK} }}) }})",
        f"exports.output = function (main) {{ {PUT_BACK} }}",
        "beforeEach(() => { was = process.exit; process.exit = () => {} })\nafterEach(() => { process.exit = was })",
        "beforeEach(() => { process.exit = jest.fn() })",
    ],
)
def test_how_a_process_ends_may_be_replaced_for_a_while(source: str) -> None:
    assert facts_of(source, "test/output.ts").hooks == ()


@pytest.mark.parametrize(
    "source",
    [
        PUT_BACK,
        "process.exit = jest.fn()",
        "it('leaves', () => { process.exit = () => {} })",
        "it('leaves', () => { const leave = process.exit; process.exit = () => leave(0); process.exit = leave })",
        "it('leaves', () => { const leave = process.exit; process.exit = () => { process.exitCode = 0 } })",
        "beforeEach(() => { process.exit = () => {} })\nfunction f() { const was = process.exit; process.exit = was }",
    ],
)
def test_and_not_for_longer(source: str) -> None:
    assert facts_of(source, "test/output.ts").hooks


def test_what_a_file_of_the_product_declares_itself_is_no_runner() -> None:
    for source in (
        "function Menu() { const self = {}; self.describe = () => {} }",
        "function Runner() {}\nRunner.prototype.run = function () {}",
        "const assert = (value) => {}\nassert.equal = () => {}",
    ):
        assert facts_of(source, "lib/menu.js").hooks == ()
    assert facts_of("const assert = require('assert')\nassert.equal = () => {}", "lib/menu.js").hooks
    assert facts_of("const assert = (value) => {}\nassert.equal = () => {}", "test/menu.js").hooks
    assert facts_of("self.describe = () => {}", "test/menu.js").hooks


def test_exits() -> None:
    assert facts_of("process.exit(0)").exits == ("process.exit(0)",)
    assert facts_of("main().then(() => process.exit(0))").exits == ("process.exit(0)",)
    assert facts_of("process.exitCode = 0").exits == ("process.exitCode = 0",)
    in_function = "export function leave() { process.exit(0) }"
    assert not facts_of(in_function).exits
    assert facts_of(in_function, "test/helpers.ts").exits == ("process.exit(0)",)
    assert not facts_of("process.kill(child.pid)\nprocess.exitCode = 1").exits


def test_flags() -> None:
    found = facts_of("""
        export const CHECKOUT = true
        let legacy = false
        const flags = { tax: true, 'new-cart': false, name: 'x' }
        exports.strict = true
        function f() { const inner = true }
        const count = 1
    """).flags
    assert found == (
        ("CHECKOUT", True),
        ("legacy", False),
        ("flags.tax", True),
        ("flags.new-cart", False),
        ("exports.strict", True),
    )


def test_asking_whether_one_is_tested_outside_of_functions() -> None:
    assert facts_of("if (process.env.NODE_ENV === 'test') start()").asks_if_tested == (
        'process.env.NODE_ENV === "test"',
    )
    assert not facts_of("function f() { return process.env.CI ? 1 : 2 }").asks_if_tested
    assert not facts_of("if (import.meta.vitest) { it('a', () => {}) }").asks_if_tested
