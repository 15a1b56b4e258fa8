"""What a function in JavaScript or TypeScript refuses, raises, catches, and whether it is one at all."""

from textwrap import dedent

import pytest
from ast_grep_py import SgRoot

from untilproven.guard.facts import Function
from untilproven.guard.languages import javascript


def names_in(source: str) -> list[str]:
    root = SgRoot(dedent(source), "typescript").root()
    return [found.name for found in javascript.facts(root, "src/cart.ts").declarations]


def function_of(source: str) -> Function:
    root = SgRoot(dedent(source), "typescript").root()
    return javascript.function(javascript.facts(root, "src/cart.ts").declarations[0])


def with_body(body: str, parameters: str = "x") -> Function:
    return function_of(f"function f({parameters}) {{\n{body}\n}}")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("function total() {}", ["total"]),
        ("export default function () {}", ["default"]),
        ("export const total = async () => 1", ["total"]),
        ("const save = guarded(async () => 1)", ["save"]),
        (
            "class Cart { total() {} static of = () => 1; get size() { return 1 } }",
            ["Cart.total", "Cart.of", "Cart.size"],
        ),
        ("const cart = { total() {}, tax: () => 1 }", ["cart.total", "cart.tax"]),
        ("Cart.prototype.total = function () {}", ["Cart.prototype.total"]),
        ("module.exports = function () {}", ["module.exports"]),
        ("app.get('/cart', (req, res) => {})", ["app.get(/cart)"]),
        ("function outer() { const inner = () => 1; function other() {} }", ["outer", "outer.inner", "outer.other"]),
        ("export default isNode && function adapter(config) {}", ["default"]),
        ("const load = cached || (() => 1)", ["load"]),
        ("app.use(function log(req, res, next) {})", ["log"]),
        ("items.map((x) => x)", []),
    ],
)
def test_names_of_functions(source: str, names: list[str]) -> None:
    assert names_in(source) == names


@pytest.mark.parametrize(
    ("body", "guards"),
    [
        ("if (!x) throw new Error('no')", ("!x",)),
        ("if (x < 0) { log(x); throw new RangeError() }", ("x < 0",)),
        ("if (!x) return next(new Error('no'))", ("!x",)),
        ("if (!x) return Promise.reject(new Error())", ("!x",)),
        ("if (!x.user) return res.status(401).json({})", ("!x.user",)),
        ("if (!x) { res.sendStatus(400); return }", ("!x",)),
        ("if (!x) return { error: 'missing' }", ("!x",)),
        ("validateCart(x, () => {})", ("validateCart(x)",)),
        ("return DOMPurify.sanitize(x)", ("DOMPurify.sanitize(x)",)),
        ("const cart = cartSchema.parse(x)", ("cartSchema.parse(x)",)),
        ("if (!x) return 0", ()),
        ("if (err) return done(err)", ()),
        ("if (x) { a(); b(); c(); throw e }", ()),
        ("return JSON.parse(x)", ()),
        ("if (x) return res.status(200).json({})", ()),
    ],
)
def test_what_a_function_refuses(body: str, guards: tuple[str, ...]) -> None:
    assert with_body(body).guards == guards


@pytest.mark.parametrize(
    ("body", "raises"),
    [
        ("throw new RangeError('no')", ("RangeError",)),
        ("throw createError(404)", ("createError",)),
        ("return Promise.reject(new CartError())", ("CartError",)),
        ("reject(new Error())", ("Error",)),
        ("try { g() } catch (error) { throw error }", ()),
        ("const error = new CartError(); error.code = 1; throw error", ("CartError",)),
        ("throw x.reason", ()),
        ("log(new Error())", ()),
        ("return x", ()),
    ],
)
def test_what_a_function_raises(body: str, raises: tuple[str, ...]) -> None:
    assert with_body(body).raises == raises


@pytest.mark.parametrize(
    ("body", "errors", "broad", "silent"),
    [
        ("try { g() } catch {}", "", True, True),
        ("try { g() } catch (e) { /* never mind */ }", "", True, True),
        ("try { g() } catch (e) { return null }", "", True, True),
        ("try { g() } catch (e) { return }", "", True, True),
        ("try { g() } catch (e) { return false }", "", True, False),
        ("try { g() } catch (e) { log(e) }", "", True, False),
        ("try { g() } catch (e) { failed = e }", "", True, False),
        ("try { g() } catch (e) { if (e.code !== 'ENOENT') throw e }", "ENOENT", False, False),
        ("try { g() } catch (e) { if (!(e instanceof CartError)) throw e }", "CartError", False, False),
        ("g().catch(() => {})", "", True, True),
        ("g().catch(noop)", "", True, True),
        ("g().catch(() => null)", "", True, True),
        ("g().catch(report)", "", True, False),
        ("g().catch((e) => log(e))", "", True, False),
        ("g().then(use, () => {})", "", True, True),
        ("socket.on('error', () => {})", "", True, True),
    ],
)
def test_what_becomes_of_an_error(body: str, errors: str, broad: bool, silent: bool) -> None:
    (found,) = with_body(body).handlers
    assert (found.errors, found.is_broad, found.is_silent, found.line) == (errors, broad, silent, 2)


def test_what_catches_nothing_is_no_handler() -> None:
    assert not with_body("try { g() } finally { h() }; g().then(use); socket.on('data', () => {})").handlers


@pytest.mark.parametrize(
    ("source", "stub"),
    [
        ("function total() { throw new Error('Not implemented') }", 'throw new Error("Not implemented")'),
        ("function total() { throw new NotImplementedError() }", "throw new NotImplementedError()"),
        ("function total() { // TODO\n }", "{}"),
        ("function total() { return null // TODO: implement\n }", "return null"),
        ("class Cart { total() {} }", "{}"),
        ("function total(x) { return x }", None),
        ("function noop() {}", None),
        ("function onClose() { /* nobody listens */ }", None),
        ("class Cart { constructor(private x: number) {} }", None),
        ("const onChange = () => {}", None),
        ("function total(x) { throw new Error('empty cart') }", None),
        ("function total(x) { // TODO: faster\n return sum(x) }", None),
    ],
)
def test_what_stands_in_place_of_a_body(source: str, stub: str | None) -> None:
    assert function_of(source).stub == stub


@pytest.mark.parametrize(
    ("body", "answers"),
    [
        ("if (x === 1) return 'I'; if (x === 5) return 'V'; return x", ("1", "5")),
        ("switch (x) { case 1: return 'I'; case 5: return 'V'; default: return x }", ("1", "5")),
        ("return x === 1 ? 'I' : x === 5 ? 'V' : x", ("1", "5")),
        ("return { 1: 'I', 5: 'V' }[x]", ("1", "5")),
        ("const table = { 1: 'I', 5: 'V' }; return table[x]", ("1", "5")),
        ("if (JSON.stringify(x) === '[1]') return 1", ('"[1]"',)),
        ("if (x === 1) return compute(x)", ()),
        ("if (y === 1) return 'I'", ()),
        ("if (x === null) return 0", ()),
        ("const table = load(); return table[x]", ()),
    ],
)
def test_answers_that_are_written_down(body: str, answers: tuple[str, ...]) -> None:
    assert with_body(body).answers == answers


def test_answers_for_two_parameters() -> None:
    assert with_body("if (x === 1 && y === 2) return 3", "x, y").answers == ("1, 2",)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("if (process.env.NODE_ENV === 'test') return 1", ('process.env.NODE_ENV === "test"',)),
        ("if (process.env.JEST_WORKER_ID) return 1", ("process.env.JEST_WORKER_ID",)),
        ("return process.env.VITEST ? 1 : 2", ("process.env.VITEST",)),
        ("if (typeof describe === 'function') return 1", ('typeof describe === "function"',)),
        ("if (!process.env.CI) return 1", ("process.env.CI",)),
        ("if (process.env.NODE_ENV === 'production') return 1", ()),
        ("if (process.env.NODE_ENV !== 'production') return 1", ()),
        ("if (kind === 'test') return 1", ()),
        ("if (typeof x === 'function') return 1", ()),
        ("if (typeof test === 'object') return 1", ()),
        ("spawn({ CI: process.env.CI })", ()),
    ],
)
def test_asking_whether_one_is_tested(body: str, asked: tuple[str, ...]) -> None:
    assert with_body(body).asks_if_tested == asked


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if (x) return null; return []", 2),
        ("return {}", 1),
        ("return undefined", 1),
        ("return x", 0),
        ("return", 0),
        ("return x.map(() => { return null })", 0),
    ],
)
def test_how_often_nothing_is_returned(body: str, count: int) -> None:
    assert with_body(body).returns_nothing == count


@pytest.mark.parametrize(
    ("source", "always"),
    [
        ("class Cart { equals(other) { return true } }", True),
        ("const isEqual = () => true", True),
        ("class Cart { equals(other) { return this.id === other.id } }", False),
        ("class Cart { isOpen() { return true } }", False),
    ],
)
def test_equality_that_does_not_look(source: str, always: bool) -> None:
    assert function_of(source).always_equal is always


def test_a_function_declared_in_another_speaks_for_itself() -> None:
    found = function_of("function outer() { function inner(x) { if (!x) throw new Error() } return inner }")
    assert (found.guards, found.raises) == ((), ())
