"""Which tests a file in JavaScript or TypeScript has, whether they are run, and what they assert."""

from textwrap import dedent

import pytest
from ast_grep_py import SgRoot

from guard.languages.whole import read_whole
from untilproven.guard import facts
from untilproven.guard.facts import Assertion, Declaration, Running, Strength
from untilproven.guard.languages import javascript

NEVER, SOMETIMES, ALWAYS = Running.NEVER, Running.SOMETIMES, Running.ALWAYS
NOTHING, SOMETHING, PARTLY, EXACTLY = Strength.NOTHING, Strength.SOMETHING, Strength.PARTLY, Strength.EXACTLY


def declared(source: str, grammar: str = "typescript") -> tuple[Declaration, ...]:
    return javascript.facts(SgRoot(dedent(source), grammar).root(), "cart.test.ts").declarations


def all_in(source: str) -> dict[str, facts.Test]:
    return {one.name: javascript.test(one) for one in declared(source) if one.is_test}


def only_in(source: str) -> facts.Test:
    (found,) = all_in(source).values()
    return found


def inside(body: str, before: str = "") -> facts.Test:
    """A test with this body."""
    return only_in(f"{before}\nit('works', async () => {{\n{body}\n}});")


def one(assertion: str, before: str = "") -> Assertion:
    (found,) = inside(f"{before}\n{assertion};").assertions
    return found


# Which declarations a runner collects


@pytest.mark.parametrize(
    "source",
    [
        "it('adds', () => {})",
        "test('adds', async function () {})",
        "specify('adds', () => {})",
        "it.only('adds', () => {})",
        "it.concurrent.skip('adds', () => {})",
        "xit('adds', () => {})",
        "fit('adds', () => {})",
        "it.todo('adds')",
        "it('adds')",
        "test.each([[1, 2]])('adds', (a, b) => {})",
        "test.each`a | b\n${1} | ${2}`('adds', ({ a, b }) => {})",
        "test.skipIf(onWindows)('adds', () => {})",
        "(onWindows ? it.skip : it)('adds', () => {})",
        "(/^v18/.test(process.version) ? it.skip : it)('adds', () => {})",
        "test('adds', { timeout: 5 }, () => {})",
        "it('adds', () => {}, 5000)",
        "it('adds', fakeAsync(() => {}))",
        "it('adds', addsUp)",
        "Deno.test('adds', () => {})",
        "QUnit.test('adds', assert => {})",
        "tap.test('adds', t => {})",
        "onlineTest('adds', async () => {})",
        "testOnline('adds', () => {})",
        "await test('adds', () => {})",
    ],
)
def test_what_a_runner_collects(source: str) -> None:
    assert [(found.name, found.is_test) for found in declared(source)] == [("adds", True)]


@pytest.mark.parametrize(
    "source",
    [
        "pattern.test('adds')",
        "const ok = test(() => true)",
        "test.beforeEach(() => {})",
        "test.extend('adds', async () => {})",
        "it.each([1, 2])",
        "items.map('adds', () => {})",
        "commit('adds', () => {})",
        "describe('adds', () => {})",
        "test.step('adds', () => {})",
        "test.skip(({ browserName }) => browserName === 'firefox')",
    ],
)
def test_what_a_runner_does_not_collect(source: str) -> None:
    assert not [found for found in declared(source) if found.is_test]


def test_a_name_says_where_a_test_stands() -> None:
    found = all_in("""
        describe('cart', () => {
          describe.skip("with   tax", () => { it(`adds
             up`, () => {}) })
          test.describe('x', () => { test('y', () => {}) })
        })
        test('outer', async (t) => { await t.test('inner', () => {}) })
        describe('each', () => { const one = () => { it('b', () => {}) } })
    """)
    assert list(found) == ["cart > with tax > adds up", "cart > x > y", "outer", "outer > inner", "each > b"]


def test_helpers_of_a_test_file_are_functions_and_those_in_a_test_belong_to_it() -> None:
    found = declared("""
        function total(cart) { return 1 }
        describe('cart', () => {
          const fill = () => {}
          it('adds', () => { const inner = () => 1; inner() })
        })
    """)
    assert [(each.name, each.is_test) for each in found] == [
        ("total", False),
        ("cart > fill", False),
        ("cart > adds", True),
    ]


def test_what_stands_around_a_test_is_part_of_its_text() -> None:
    plain = "describe('cart', () => { it('adds', () => {}) })"
    changed = [
        plain.replace("describe(", "describe.skip("),
        plain.replace("describe(", "if (false) describe("),
        plain.replace("it(", "return; it("),
        plain.replace("it(", "before(function () { this.skip() }); it("),
        "vi.mock('./cart');" + plain,
        plain + "; it.only('other', () => {})",
        f"for (const x of [1, 2]) {{ {plain} }}",
        plain.replace("it(", "const later = () => { it(").replace("{})", "{}) }"),
    ]
    (before,) = declared(plain)
    assert before.text == "it('adds', () => {})"
    for source in changed:
        found = next(each for each in declared(source) if each.name.endswith("adds"))
        assert found.text != before.text, source


def test_a_table_written_elsewhere_is_part_of_a_tests_text() -> None:
    source = "const table = [1, 2];\nit.each(table)('adds', () => {})"
    assert declared(source)[0].text != declared(source.replace("2", "3"))[0].text
    source = "const maybe = online ? it : it.skip\nmaybe('adds', () => {})"
    assert declared(source)[0].text != declared(source.replace("online", "false"))[0].text


# Whether it is run


@pytest.mark.parametrize(
    ("source", "running", "reason"),
    [
        ("it('a', () => {})", ALWAYS, None),
        ("it.skip('a', () => {})", NEVER, ".skip"),
        ("xit('a', () => {})", NEVER, "xit"),
        ("it.todo('a')", NEVER, None),
        ("it('a')", NEVER, "nothing to run"),
        ("it.failing('a', () => {})", NEVER, ".failing"),
        ("test.fails('a', () => {})", NEVER, ".fails"),
        ("test.fixme('a', () => {})", NEVER, ".fixme"),
        ("test('a', { skip: true }, () => {})", NEVER, "true"),
        ("test('a', { skip: 'flaky' }, () => {})", NEVER, "flaky"),
        ("test('a', { skip: false }, () => {})", ALWAYS, None),
        ("test('a', { skip: isWindows }, () => {})", SOMETIMES, "isWindows"),
        ("test('a', { todo: true }, () => {})", NEVER, "true"),
        ("it.skipIf(true)('a', () => {})", NEVER, "true"),
        ("it.skipIf(1 === 1)('a', () => {})", NEVER, None),
        ("it.skipIf(x || true)('a', () => {})", NEVER, None),
        ("it.skipIf(false)('a', () => {})", ALWAYS, None),
        ("it.skipIf(process.env.CI)('a', () => {})", SOMETIMES, "process.env.CI"),
        ("it.runIf(false)('a', () => {})", NEVER, "false"),
        ("it.runIf(process.platform === 'linux')('a', () => {})", SOMETIMES, 'process.platform === "linux"'),
        ("const OFF = true\nit.skipIf(OFF)('a', () => {})", NEVER, "OFF"),
        ("(onWindows ? it.skip : it)('a', () => {})", SOMETIMES, "onWindows"),
        ("(true ? it.skip : it)('a', () => {})", NEVER, "true"),
        ("(true ? it : it.skip)('a', () => {})", ALWAYS, None),
        ("const maybe = true ? it.skip : it\nmaybe('a', () => {})", NEVER, "true"),
        ("const maybe = online ? it : it.skip;\nmaybe('a', () => {})", SOMETIMES, "online"),
        ("const later = it.skip\nlater('a', () => {})", NEVER, ".skip"),
        (
            "const suite = onWindows ? describe.skip : describe\nsuite('s', () => { it('a', () => {}) })",
            SOMETIMES,
            None,
        ),
        ("it('a', function () { this.skip() })", NEVER, "this.skip()"),
        ("it('a', function () { if (process.platform === 'win32') this.skip(); f() })", SOMETIMES, None),
        ("it('a', function () { if (true) { this.skip() } f() })", NEVER, None),
        ("test('a', (t) => { t.skip('later'); t.is(f(), 1) })", NEVER, "later"),
        ("test('a', ({ skip }) => { skip() })", NEVER, "skip()"),
        ("test('a', async ({ page }) => { test.skip(); await f(page) })", NEVER, "test.skip()"),
        ("test('a', async ({ browserName }) => { test.skip(browserName === 'firefox', 'why') })", SOMETIMES, None),
        ("it('a', () => { pending('later') })", NEVER, "later"),
        ("it('a', () => { if (process.platform === 'win32') return; expect(f()).toBe(1) })", SOMETIMES, None),
        ("if (process.env.DB) it('a', () => {})", SOMETIMES, "(process.env.DB)"),
        ("if (false) { it('a', () => {}) }", NEVER, "(false)"),
        ("online && it('a', () => {})", SOMETIMES, "online"),
    ],
)
def test_marks_on_a_test(source: str, running: Running, reason: str | None) -> None:
    found = only_in(source)
    assert found.running == running
    if reason is not None or running == ALWAYS:
        assert found.reason == reason


@pytest.mark.parametrize(
    "source",
    [
        "describe.skip('s', () => { it('a', () => {}) })",
        "xdescribe('s', () => { describe('t', () => { it('a', () => {}) }) })",
        "describe('s', { skip: true }, () => { it('a', () => {}) })",
        "describe('s', function () { before(function () { this.skip() }); it('a', () => {}) })",
        "test.describe('s', () => { test.fixme(); test('a', () => {}) })",
        "test.skip(true, 'why')\ntest('a', () => {})",
        "describe('s', () => { return; it('a', () => {}) })",
        "describe.todo('s', () => { it('a', () => {}) })",
        "describe('s', () => { const later = () => { it('a', () => {}) } })",
        "function later() { it('a', () => {}) }",
    ],
)
def test_a_suite_or_a_file_that_is_skipped_skips_its_tests(source: str) -> None:
    assert only_in(source).running == NEVER


def test_a_test_in_a_function_that_is_called_or_exported_is_run() -> None:
    assert only_in("function both() { it('a', () => {}) }\nboth()").running == ALWAYS
    assert only_in("export function both() { it('a', () => {}) }").running == ALWAYS
    assert only_in("const both = () => { it('a', () => {}) }\nmodule.exports = { both }").running == ALWAYS


def test_a_skipped_test_leaves_its_neighbours_alone() -> None:
    found = all_in("describe('s', () => { test.skip('a', () => {}); test('b', () => {}) })")
    assert [each.running for each in found.values()] == [NEVER, ALWAYS]


def test_focus_takes_the_others_away() -> None:
    found = all_in("""
        describe.only('s', () => { it('a', () => {}) })
        describe('t', () => { it('b', () => {}); fit('c', () => {}) })
    """)
    assert [each.running for each in found.values()] == [ALWAYS, NEVER, ALWAYS]
    assert "only" in (found["t > b"].reason or "")


# What it asserts


@pytest.mark.parametrize(
    ("assertion", "strength", "about", "expected"),
    [
        ("expect(f(x)).toBe(1)", EXACTLY, "f(x)", "1"),
        ("expect(await f(x)).toEqual({a: 1,})", EXACTLY, "f(x)", "{a: 1}"),
        ("await expect(f(x)).resolves.toStrictEqual('a')", EXACTLY, "f(x)", '"a"'),
        ("expect(x).not.toBe(1)", SOMETHING, "x", "1"),
        ("expect(x).toBeNull()", EXACTLY, "x", "null"),
        ("expect(x).not.toBeNull()", SOMETHING, "x", "null"),
        ("expect(x).toBeTruthy()", SOMETHING, "x", None),
        ("expect(x).toBeDefined()", SOMETHING, "x", None),
        ("expect(x).toBeInstanceOf(Cart)", SOMETHING, "x", "Cart"),
        ("expect(x).toEqual(expect.anything())", SOMETHING, "x", "expect.anything()"),
        ("expect(x).toEqual(expect.objectContaining({a: 1}))", PARTLY, "x", None),
        ("expect(x).toContain(1)", PARTLY, "x", "1"),
        ("expect(x).toHaveLength(3)", PARTLY, "x.length", "3"),
        ("expect(x.length).toBe(3)", PARTLY, "x.length", "3"),
        ("expect(typeof x).toBe('string')", SOMETHING, "typeof x", '"string"'),
        ("expect(x).toBeGreaterThan(3)", PARTLY, "x", "3"),
        ("expect(spy).toHaveBeenCalled()", PARTLY, "spy", None),
        ("expect(spy).toHaveBeenCalledWith(1)", EXACTLY, "spy", "1"),
        ("expect(spy).toHaveBeenCalledWith(1, expect.anything())", PARTLY, "spy", "1, expect.anything()"),
        ("expect(spy).toHaveBeenCalledWith(expect.any(Cart))", SOMETHING, "spy", "expect.any(Cart)"),
        ("expect(x).toMatchSnapshot()", EXACTLY, "x", None),
        ("expect(x).toMatchInlineSnapshot(`1`)", EXACTLY, "x", "`1`"),
        ("expect(x).toMatchInlineSnapshot()", SOMETHING, "x", None),
        ("expect(x === 1).toBe(true)", EXACTLY, "x", "1"),
        ("expect(x > 1).toBeTruthy()", PARTLY, "x", "1"),
        ("expect(isValid(x)).toBe(true)", EXACTLY, "isValid(x)", "true"),
        ("expect(x instanceof Cart).toBe(true)", SOMETHING, "x", "Cart"),
        ("expect(x).toBeMyOwnThing(1)", PARTLY, "x", "1"),
        ("expect.soft(x).toBe(1)", EXACTLY, "x", "1"),
        ("expectTypeOf(x).toEqualTypeOf<string>()", EXACTLY, "expectTypeOf(x)", "<string>"),
        ("expectTypeOf({ a: 1 }).toExtend<Cart>()", PARTLY, None, None),
        ("expectTypeOf(f).parameter(0).not.toBeString()", SOMETHING, None, None),
        # playwright, testing-library
        ("await expect(page.getByRole('a')).toHaveText('b')", EXACTLY, 'page.getByRole("a")', '"b"'),
        ("await expect(page).toHaveURL('b')", EXACTLY, "page", '"b"'),
        ("expect(screen.getByText('a')).toBeInTheDocument()", EXACTLY, 'screen.getByText("a")', None),
        ("expect(screen.getByTestId('a')).toBeInTheDocument()", SOMETHING, None, None),
        ("expect(screen.queryByText('a')).not.toBeInTheDocument()", SOMETHING, None, None),
        ("screen.getByText('a')", EXACTLY, None, None),
        ("await screen.findByText(/a/)", SOMETHING, None, None),
        # chai
        ("expect(x).to.equal(1)", EXACTLY, "x", "1"),
        ("expect(x).to.be.true", EXACTLY, "x", "true"),
        ("expect(x).to.be.an('array')", SOMETHING, "x", None),
        ("expect(x).to.be.an('array').that.includes(2)", PARTLY, "x", "2"),
        ("expect(x).to.deep.equal([1, 2])", EXACTLY, "x", "[1, 2]"),
        ("expect(x).to.not.exist", SOMETHING, "x", None),
        ("expect(spy).to.have.been.calledOnce", EXACTLY, "spy", "1"),
        ("x.should.equal(1)", EXACTLY, "x", "1"),
        ("f(x).should.have.property('a')", PARTLY, "f(x)", '"a"'),
        ("should.exist(x)", SOMETHING, "x", None),
        ("should(x).be.ok()", SOMETHING, "x", None),
        ("assert.isTrue(x)", EXACTLY, "x", "true"),
        ("assert.lengthOf(x, 2)", PARTLY, "x.length", "2"),
        # node:assert
        ("assert(x)", SOMETHING, "x", None),
        ("assert.ok(x)", SOMETHING, "x", None),
        ("assert(x === 1)", EXACTLY, "x", "1"),
        ("assert(x.includes('a'))", PARTLY, 'x.includes("a")', None),
        ("assert.strictEqual(f(x), 1)", EXACTLY, "f(x)", "1"),
        ("assert.strict.deepEqual(x, [1])", EXACTLY, "x", "[1]"),
        ("deepStrictEqual(x, [1])", EXACTLY, "x", "[1]"),
        ("assert.notStrictEqual(x, 1)", SOMETHING, "x", "1"),
        ("assert.match(x, /a/)", PARTLY, "x", "/a/"),
        ("await assert.doesNotReject(f())", SOMETHING, "f()", None),
        ("assertEquals(x, 1)", EXACTLY, "x", "1"),
        ("sinon.assert.calledWith(spy, 1)", EXACTLY, "spy", "1"),
        # ava, tap
        ("t.is(x, 1)", EXACTLY, "x", "1"),
        ("t.truthy(x)", SOMETHING, "x", None),
        ("t.like(x, {a: 1})", PARTLY, "x", "{a: 1}"),
        ("t.same(x, [1])", EXACTLY, "x", "[1]"),
        ("const plan = tspl(t, { plan: 1 }); plan.equal(x, 1)", EXACTLY, "x", "1"),
        # referee, and what it adds
        ("refute(x)", SOMETHING, "x", None),
        ("refute.equals(x, 1)", SOMETHING, "x", "1"),
        ("assert.exception(f)", PARTLY, "f", None),
        # supertest
        ("await request(app).get('/').expect(200)", EXACTLY, 'request(app).get("/")', "200"),
        ("await request(app).get('/').expect('Type', /json/)", PARTLY, 'request(app).get("/")["Type"]', "/json/"),
        ("await request(app).get('/').expect(200, 'ok')", EXACTLY, 'request(app).get("/")', '200, "ok"'),
        ("await request(app).get('/').expect('ok')", EXACTLY, 'request(app).get("/")', '"ok"'),
        ("await request(app).get('/').expect(looksRight)", PARTLY, 'request(app).get("/")', None),
        # cypress
        ("cy.get('li').should('have.length', 3)", PARTLY, 'cy.get("li").length', "3"),
        ("cy.get('li').should('be.visible')", SOMETHING, 'cy.get("li")', None),
        ("cy.contains('saved')", SOMETHING, None, None),
        # helpers
        ("expectCart(x)", PARTLY, "x", None),
        ("await page.verifyTotal(x)", PARTLY, "x", None),
        # by hand
        ("if (x !== 1) throw new Error('no')", EXACTLY, "x", "1"),
        ("if (x !== 1) return done(new Error('no'))", EXACTLY, "x", "1"),
        ("if (x !== 1) assert.fail()", EXACTLY, "x", "1"),
    ],
)
def test_an_assertion(assertion: str, strength: Strength, about: str | None, expected: str | None) -> None:
    found = one(assertion)
    assert found.strength == strength
    if about is not None:
        assert found.about == about
    if expected is not None:
        assert found.expected == expected


@pytest.mark.parametrize(
    ("assertions", "strength", "expected"),
    [
        (
            [
                *("expect(spy).not.toHaveBeenCalled()", "expect(spy).toHaveBeenCalledTimes(0)", "assert(!spy.called)"),
                *("assert.strictEqual(spy.mock.calls.length, 0)", "assert.equal(spy.mock.callCount(), 0)"),
                *("sinon.assert.notCalled(spy)", "spy.should.not.have.been.called", "t.false(spy.called)"),
                *("assert.deepEqual(spy.mock.calls, [])", "expect(spy.mock.calls).toHaveLength(0)"),
                *("expect(spy.calls.count()).toBe(0)", "assert(spy.notCalled)", "expect(spy.callCount).to.equal(0)"),
                *("expect(spy.callCount === 0).toBe(true)", "assert(!spy.mock.calls.length)"),
            ],
            EXACTLY,
            "0",
        ),
        (
            [
                *("expect(spy).toHaveBeenCalled()", "sinon.assert.called(spy)", "expect(spy).to.have.been.called"),
                *("assert.notStrictEqual(spy.mock.calls.length, 0)", "assert(spy.callCount > 0)", "assert(spy.called)"),
                *(
                    "expect(spy.mock.calls.length).toBeGreaterThan(0)",
                    "t.true(spy.called)",
                    "assert(1 <= spy.callCount)",
                ),
                *("expect(spy).not.toHaveBeenCalledTimes(0)", "expect(spy.called).toBe(true)"),
            ],
            PARTLY,
            None,
        ),
        (
            [
                *("expect(spy).toHaveBeenCalledTimes(2)", "sinon.assert.calledTwice(spy)", "assert(spy.calledTwice)"),
                *("expect(spy.mock.calls).toHaveLength(2)", "assert(spy.callCount === 2)", "t.is(spy.callCount, 2)"),
            ],
            EXACTLY,
            "2",
        ),
        (["expect(spy).not.toHaveBeenCalledTimes(2)", "assert(!spy.calledTwice)"], SOMETHING, "2"),
        (
            [
                *("expect(spy).toHaveBeenCalledWith(1, 'a')", "assert(spy.calledWith(1, 'a'))"),
                *("assert.deepEqual(spy.mock.calls[0].arguments, [1, 'a'])", "sinon.assert.calledWith(spy, 1, 'a')"),
                *("expect(spy.mock.calls[0]).toEqual([1, 'a'])", "expect(spy).toHaveBeenNthCalledWith(2, 1, 'a')"),
                *("expect(spy.firstCall.args).to.deep.equal([1, 'a'])", "t.deepEqual(spy.args[0], [1, 'a'])"),
            ],
            EXACTLY,
            '1, "a"',
        ),
    ],
)
def test_how_often_something_was_called_is_asked_in_many_words(
    assertions: list[str], strength: Strength, expected: str | None
) -> None:
    assert {(each.about, each.strength, each.expected) for each in map(one, assertions)} == {
        ("spy", strength, expected)
    }


@pytest.mark.parametrize(
    ("assertions", "strength", "expected"),
    [
        (["expect(x).toHaveLength(2)", "assert.equal(x.length, 2)", "x.should.have.length(2)"], PARTLY, "2"),
        (["expect(x).toHaveLength(0)", "assert(!x.length)", "assert(x.length === 0)"], PARTLY, "0"),
        (["assert(x.length)", "assert(x.length > 0)", "expect(x).not.toHaveLength(0)"], SOMETHING, None),
        (["assert(x.length !== 0)", "expect(x.length).toBeGreaterThanOrEqual(1)"], SOMETHING, None),
    ],
)
def test_how_much_there_is_is_asked_in_many_words(
    assertions: list[str], strength: Strength, expected: str | None
) -> None:
    found = {(each.about, each.strength, each.expected) for each in map(one, assertions)}
    assert found == {("x.length", strength, expected)}


def test_a_name_that_is_false_until_something_happens_counts_calls() -> None:
    was = one("assert(!called)", "let called = false; cart.on('sold', () => { called = true }); cart.close()")
    now = one("assert.equal(spy.mock.calls.length, 0)")
    assert (was.strength, was.expected) == (now.strength, now.expected) == (EXACTLY, "0")
    assert one("t.true(called)", "let called = false; cart.on('sold', () => { called = true })").strength == PARTLY
    assert one("assert(!called)", "let called = cart.close()").strength == SOMETHING


@pytest.mark.parametrize(
    "assertion",
    [
        "expect(x.a).toBe(1)",
        "expect(x).toHaveProperty('a', 1)",
        "x.should.have.property('a', 1)",
        "assert.propertyVal(x, 'a', 1)",
        "assert(isDeepStrictEqual(x.a, 1))",
        "t.true(_.isEqual(x.a, 1))",
    ],
)
def test_the_value_of_a_property_is_asked_in_many_words(assertion: str) -> None:
    found = one(assertion)
    assert (found.about, found.strength, found.expected) == ("x.a", EXACTLY, "1")


def test_how_near_a_value_is_is_asked_in_two_ways() -> None:
    was, now = one("assert(Math.abs(x - 1) < 0.1)"), one("expect(x).to.be.closeTo(1, 0.1)")
    assert (was.about, was.expected, was.tolerance) == (now.about, now.expected, now.tolerance) == ("x", "1", 0.1)


def test_that_something_is_found_is_a_part_of_it() -> None:
    assert one("assert(x.indexOf('a') !== -1)").strength == one("assert(x.includes('a'))").strength == PARTLY


def test_the_end_of_a_test_may_be_its_second_parameter() -> None:
    found = only_in("it('ends', (t, done) => { cart.on('sold', () => { done() }) })")
    assert [each.text for each in found.assertions] == ["done()"]


@pytest.mark.parametrize(
    ("assertion", "strength", "error", "expected"),
    [
        ("expect(() => f(x)).toThrow()", PARTLY, "Error", None),
        ("expect(() => f(x)).toThrow(Error)", PARTLY, "Error", None),
        ("expect(() => { f(x) }).toThrow(RangeError)", EXACTLY, "RangeError", None),
        ("expect(() => f(x)).toThrow('too big')", EXACTLY, "Error", '"too big"'),
        ("expect(() => f(x)).to.throw(RangeError, /big/)", EXACTLY, "RangeError", "/big/"),
        ("assert.throws(() => f(x), RangeError)", EXACTLY, "RangeError", None),
        ("assert.throws(() => f(x), { name: 'RangeError' })", EXACTLY, "RangeError", '{name: "RangeError"}'),
        ("t.throws(() => f(x), { instanceOf: RangeError })", EXACTLY, "RangeError", None),
        ("await expect(f(x)).rejects.toThrow(RangeError)", EXACTLY, "RangeError", None),
        ("await expect(f(x)).rejects.toBe(1)", EXACTLY, "Error", "1"),
        ("expect(() => f(x)).not.toThrow()", SOMETHING, None, None),
    ],
)
def test_an_error_that_is_expected(assertion: str, strength: Strength, error: str | None, expected: str | None) -> None:
    found = one(assertion)
    assert (found.strength, found.error, found.about) == (strength, error, "f(x)")
    if expected is not None:
        assert found.expected == expected


@pytest.mark.parametrize(
    ("assertion", "tolerance"),
    [
        ("expect(x).toBeCloseTo(1.5)", 0.005),
        ("expect(x).toBeCloseTo(1.5, 4)", 0.00005),
        ("expect(x).to.be.closeTo(1.5, 0.1)", 0.1),
        ("assert.approximately(x, 1.5, 0.1)", 0.1),
        ("expect(x).toBe(1.5)", None),
    ],
)
def test_how_far_from_a_number_still_passes(assertion: str, tolerance: float | None) -> None:
    found = one(assertion)
    assert found.expected == "1.5"
    assert found.tolerance == (None if tolerance is None else pytest.approx(tolerance))


@pytest.mark.parametrize(
    "assertion",
    [
        "expect(true).toBe(true)",
        "expect(1).toBeDefined()",
        "expect(Array.isArray(x)).toBeDefined()",
        "expect(x || true).toBe(true)",
        "expect(x).toBe(x)",
        "expect(f(x)).toEqual(f(x))",
        "expect('a').toEqual('a')",
        "expect([]).toEqual([])",
        "expect(x)",
        "expect(x).toBe",
        "expect(x.length).toBeGreaterThanOrEqual(0)",
        "expect(x).toMatch(/.*/)",
        "assert(true)",
        "assert.ok(1)",
        "assert.strictEqual(x, x)",
        "assert(x === x)",
        "assert(x || true)",
        "assert.ok(typeof x !== undefined)",
        "expectTypeOf(x)",
        "t.pass()",
        "const limit = 5; expect(limit).toBe(5)",
        "const f = jest.fn().mockReturnValue(5); expect(f()).toBe(5)",
        "const f = vi.fn(() => 5); expect(f(1)).toBe(5)",
        "jest.spyOn(cart, 'total').mockReturnValue(5); expect(cart.total()).toBe(5)",
    ],
)
def test_what_holds_whatever_the_code_does(assertion: str) -> None:
    assert one(assertion).strength == NOTHING


@pytest.mark.parametrize(
    "assertion",
    [
        "expect(f(x)).not.toBe(f(x))",
        "const limit = 5; expect(limit).toBe(f(x))",
        "const f = jest.fn().mockReturnValue(5); expect(total(f)).toBe(5)",
        "let n = 0; f(() => n++); expect(n).toBe(1)",
        "expect('abc').toMatch(pattern)",
        "expect(x.length).toBeGreaterThanOrEqual(1)",
    ],
)
def test_what_looks_certain_and_is_not(assertion: str) -> None:
    assert one(assertion).strength > NOTHING


def test_layout_and_quotes_do_not_show() -> None:
    first = one("expect(f( x,'a' )).toEqual({ a:1,b : [1,2] })")
    second = one('expect(\n  f(\n    x,\n    "a",\n  ),\n).toEqual({\n  a: 1,\n  b: [1, 2],\n})')
    assert first.text == second.text == 'expect(f(x, "a")).toEqual({a: 1, b: [1, 2]})'


def test_helpers_of_the_file_that_assert_count() -> None:
    helpers = "function looksRight(x) { expect(x.a).toBe(1) }\nfunction load(x) { return x }"
    assert inside("looksRight(x)", helpers).assertions[0].strength == PARTLY
    assert inside("items.forEach(looksRight)", helpers).assertions[0].strength == PARTLY
    assert not inside("load(x)", helpers).assertions


def test_what_uses_the_value_of_a_call_is_no_assertion() -> None:
    assert not inside("const ok = verifyToken(x); await page.check('#a'); const a = screen.getByText('a')").assertions
    assert not inside("await page.getByText('a').click(); page.getByText('b')").assertions


def test_a_body_that_is_written_elsewhere_counts_as_a_helper() -> None:
    assert [each.about for each in only_in("test('a', addsUp, 1, 2)").assertions] == ["addsUp"]
    assert not only_in("test('a', { timeout: 5 })").assertions


def test_what_a_type_checker_must_refuse_counts_where_nothing_else_does() -> None:
    assert [each.strength for each in inside("// @ts-expect-error\nf(1)").assertions] == [SOMETHING]
    assert len(inside("// @ts-expect-error\nf(1)\nexpect(x).toBe(1)").assertions) == 1
    assert inside("const unused = () => { expectTypeOf(x).toEqualTypeOf<string>() }").unreached == 0


def test_waiting_for_something_counts_where_nothing_else_does() -> None:
    assert [each.strength for each in inside("await page.waitForSelector('li')").assertions] == [SOMETHING]
    assert not inside("await page.waitForTimeout(5)").assertions


def test_reaching_the_end_counts_where_nothing_else_does() -> None:
    ends = "it('a', (done) => { server.on('close', () => done()) })"
    assert [each.strength for each in only_in(ends).assertions] == [SOMETHING]
    both = "it('a', (done) => { server.on('close', () => { expect(x).toBe(1); done() }) })"
    assert [each.text for each in only_in(both).assertions] == ["expect(x).toBe(1)"]
    assert not only_in("it('a', (done) => { f(); done() })").assertions


def test_a_place_that_must_not_be_reached_counts_where_nothing_else_does() -> None:
    for failing in ("expect.fail()", "assert.fail('no')", "t.fail()", "fail()", "expect(true).toBe(false)"):
        assert [each.strength for each in inside(f"if (x) {{ f(); {failing}; g() }}").assertions] == [SOMETHING]
        assert len(inside(f"if (x) {{ f(); {failing}; g() }}; expect(y).toBe(1)").assertions) == 1
    assert not inside("report.fail('x')").assertions


def test_being_called_counts_where_nothing_else_does() -> None:
    assert [
        each.strength for each in only_in("test('a', (t) => { server.on('end', () => t.ok(true)) })").assertions
    ] == [SOMETHING]
    assert [each.strength for each in only_in("test('a', (t) => { t.ok(true) })").assertions] == [NOTHING]


def test_assertions_in_callbacks_count_and_those_of_subtests_do_not() -> None:
    assert len(inside("await waitFor(() => { expect(x).toBe(1) })").assertions) == 1
    found = all_in("test('outer', async (t) => { t.is(a, 1); await t.test('inner', (t) => { t.is(b, 1) }) })")
    assert [len(each.assertions) for each in found.values()] == [1, 1]


# What is not reached


@pytest.mark.parametrize(
    "body",
    [
        "return; expect(x).toBe(1)",
        "if (true) return; expect(x).toBe(1)",
        "if (false) { expect(x).toBe(1) }",
        "false && expect(x).toBe(1)",
        "for (const y of []) expect(y).toBe(1)",
        "process.exit(0); expect(x).toBe(1)",
        "try { expect(x).toBe(1) } catch {}",
        "try { expect(x).toBe(1) } catch (error) { console.log(error) }",
        "try { expect(x).toBe(1) } finally { return }",
        "await f().then((x) => { expect(x).toBe(1) }).catch(() => {})",
        "const check = () => { expect(x).toBe(1) }",
        "expect(f()).resolves.toBe(1)",
        "assert.rejects(f(), RangeError)",
        "request(app).get('/').expect(200)",
    ],
)
def test_an_assertion_that_can_not_fail_is_not_listed(body: str) -> None:
    found = inside(body)
    assert (found.assertions, found.unreached) == ((), 1)


@pytest.mark.parametrize(
    "body",
    [
        "if (x) { expect(x).toBe(1) }",
        "try { expect(x).toBe(1) } catch (error) { throw error }",
        "try { expect(x).toBe(1) } catch (error) { done(error) }",
        "try { f() } catch (error) { expect(error.code).toBe(1) }",
        "try { expect(x).toBe(1) } finally { close() }",
        "const check = () => { expect(x).toBe(1) }; check()",
        "return expect(f()).resolves.toBe(1)",
        "await Promise.all([expect(f()).resolves.toBe(1)])",
        "return request(app).get('/').expect(200)",
        "request(app).get('/').expect(200, done)",
        "request(app).get('/').expect(200).end(done)",
        "await f().then((x) => { expect(x).toBe(1) })",
        "expect(x).toBe(1); return",
    ],
)
def test_an_assertion_that_can_fail_is_listed(body: str) -> None:
    found = inside(body)
    assert (len(found.assertions), found.unreached) == (1, 0)


def test_a_promise_that_a_test_does_not_wait_for() -> None:
    source = "it('a', () => { f().then((x) => { expect(x).toBe(1) }) })"
    assert (only_in(source).assertions, only_in(source).unreached) == ((), 1)
    assert only_in(source.replace("f()", "return f()")).unreached == 0
    assert only_in(source.replace("()", "(done)", 1)).unreached == 0


def test_playwrights_assertions_must_be_awaited() -> None:
    source = "import { test } from '@playwright/test'\ntest('a', async ({ page }) => { expect(page).toHaveURL('b') })"
    assert only_in(source).unreached == 1
    assert only_in(source.replace("expect(page)", "await expect(page)")).unreached == 0
    assert only_in(source.replace("@playwright/test", "vitest")).unreached == 0


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("return; expect(x).toBe(1)", "return"),
        ("if (!x) return; expect(x).toBe(1)", "if (!x) return"),
        ("process.exit(0)", "process.exit(0)"),
        ("expect(x).toBe(1); process.exit(0)", "process.exit(0)"),
        ("expect(x).toBe(1); return", None),
        ("expect(x.ok).toBe(true); if (!x.ok) return; expect(x.y).toBe(1)", None),
        ("items.map((y) => { return y }); expect(x).toBe(1)", None),
    ],
)
def test_how_a_test_ends_before_its_end(body: str, leaves: str | None) -> None:
    assert inside(body).leaves == leaves


# Cases, replacements, limits


@pytest.mark.parametrize(
    ("source", "cases"),
    [
        ("it.each([[1, 2], [3, 4]])('a', (x, y) => {})", ("[1, 2]", "[3, 4]")),
        ("it.each`x | y\n${1} | ${2}\n${3} | ${4}\n`('a', ({ x }) => {})", ("${1} | ${2}", "${3} | ${4}")),
        ("const rows = ['a', 'b']\nit.each(rows)('a', (x) => {})", ('"a"', '"b"')),
        ("describe.each([1, 2])('s', (x) => { it('a', () => {}) })", ("1", "2")),
        ("for (const x of [1, 2]) { it(`a`, () => {}) }", ("1", "2")),
        ("[1, 2].forEach((x) => { it('a', () => {}) })", ("1", "2")),
        ("Object.entries({ a: 1, b: 2 }).forEach(([x]) => it('a', () => {}))", ("a: 1", "b: 2")),
        ("it('a', () => { for (const x of [1, 2]) f(x) })", ()),
    ],
)
def test_cases(source: str, cases: tuple[str, ...]) -> None:
    assert only_in(source).cases == cases


@pytest.mark.parametrize(
    ("body", "before", "mocks"),
    [
        ("", "jest.mock('./cart')", ("./cart",)),
        ("", "vi.mock(import('./cart'), () => ({}))", ("./cart",)),
        ("", "beforeEach(() => { sinon.stub(cart, 'total') })", ("cart.total",)),
        ("jest.spyOn(cart, 'total').mockReturnValue(1)", "", ("cart.total",)),
        ("const spy = vi.spyOn(cart, 'total'); spy.mockReturnValue(1)", "", ("cart.total",)),
        ("sinon.stub(cart, 'total').returns(1)", "", ("cart.total",)),
        ("mock.method(cart, 'total', () => 1)", "", ("cart.total",)),
        ("t.mock.method(cart, 'total', () => 1)", "", ("cart.total",)),
        ("vi.stubGlobal('fetch', f)", "", ("globalThis.fetch",)),
        ("global.fetch = jest.fn()", "", ("global.fetch",)),
        ("cart.total = vi.fn().mockReturnValue(1)", "", ("cart.total",)),
        ("nock('https://a.b').get('/').reply(200)", "", ("https://a.b",)),
        ("jest.spyOn(cart, 'total')", "", ()),
        ("const spy = jest.spyOn(cart, 'total'); f(); expect(spy.mock.calls).toEqual([]); spy.mockRestore()", "", ()),
        ("name.replace('a', 'b')", "", ()),
        ("const f = jest.fn()", "", ()),
        ("", "function setUp() { jest.spyOn(cart, 'total').mockReturnValue(1) }", ()),
    ],
)
def test_what_is_replaced(body: str, before: str, mocks: tuple[str, ...]) -> None:
    assert inside(body, before).mocks == mocks


def test_what_one_test_replaces_is_not_replaced_in_another() -> None:
    found = all_in("it('a', () => { sinon.stub(cart, 'total') })\nit('b', () => {})")
    assert [each.mocks for each in found.values()] == [("cart.total",), ()]


@pytest.mark.parametrize(
    ("source", "retries", "timeout"),
    [
        ("it('a', () => {})", None, None),
        ("it('a', () => {}, 5_000)", None, 5.0),
        ("test('a', { retry: 3, timeout: 10 * 1000 }, () => {})", 3, 10.0),
        ("it('a', function () { this.timeout(2000); this.retries(2) })", 2, 2.0),
        ("it('a', function () { this.timeout(0) })", None, float("inf")),
        ("describe('s', function () { this.timeout(2000); it('a', () => {}) })", None, 2.0),
        ("test.describe.configure({ retries: 2 })\ntest('a', () => {})", 2, None),
        ("jest.retryTimes(4)\njest.setTimeout(1000)\ntest('a', () => {})", 4, 1.0),
        ("describe('s', { retry: 1 }, () => { test('a', { retry: 2 }, () => {}) })", 2, None),
    ],
)
def test_how_often_and_how_long(source: str, retries: int | None, timeout: float | None) -> None:
    found = only_in(source)
    assert (found.retries, found.timeout) == (retries, timeout)


# Odd input


@pytest.mark.parametrize(
    "source",
    [
        "",
        "it(",
        "it('a', () => {",
        "describe('a', () => { it('b', ( => ) })",
        "it('größe', () => {\r\n\texpect(größe).toBe(1)\r\n})\r\n",
        "it.each()('a', () => {})",
        "expect().toBe()",
        "it('a', () => { try { } catch (e) { } finally { } ; if () {} })",
        "it('a', () => { " + "(" * 400 + "x" + ")" * 400 + " })",
        "it('a', () => { expect(" + " || ".join(["x"] * 1500) + ").toBe(true) })",
        "it('a', () => { f" + ".g()" * 1500 + " })",
        "it('a', () => { " + "if (x) { " * 300 + "}" * 300 + " })",
    ],
)
@pytest.mark.parametrize("grammar", ["javascript", "typescript", "tsx"])
def test_odd_input_is_read_without_complaint(source: str, grammar: str) -> None:
    root = SgRoot(source, grammar).root()
    read_whole(javascript.facts(root, "a.test.js"), javascript)
