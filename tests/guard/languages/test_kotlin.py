"""What is read of Kotlin that is not as in Java: kotlin.test, MockK, expressions that are bodies."""

import random

import pytest
from ast_grep_py import SgRoot

from guard.languages.whole import read_whole
from untilproven.guard.facts import Assertion, Declaration, Facts, Function, Running, Strength
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import kotlin
from untilproven.guard.reading import read

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength
NEVER, SOMETIMES, ALWAYS = Running


def facts(code: str, path: str = "ATest.kt") -> Facts:
    return read(path, code.encode())


def declared(code: str, name: str) -> Declaration:
    return next(one for one in facts(code).declarations if one.name == name)


def collected(code: str) -> list[str]:
    return [one.name for one in facts(code).declarations if one.is_test]


def inside(body: str, before: str = "@Test", *, members: str = "", of: str = "") -> Inside:
    return kotlin.test(declared(f"{of}\nclass A {{\n {before}\n fun a() {{\n {body}\n }}\n {members}\n}}", "A.a"))


def asserted(body: str) -> Assertion:
    (only,) = inside(body).assertions
    return only


def strengths(body: str) -> list[Strength]:
    return [one.strength for one in inside(body).assertions]


def function_of(code: str) -> Function:
    return kotlin.function(next(one for one in facts(code).declarations))


def test_functions_marked_as_tests_are_tests() -> None:
    code = """class A {
        @Test fun `adds up`() {}
        fun helper() {}
        @Test private fun b() {}
        companion object {
            fun c() {}
        }
    }"""
    assert [(one.name, one.is_test) for one in facts(code).declarations] == [
        ("A.adds up", True),
        ("A.helper", False),
        ("A.b", False),
        ("A.c", False),
    ]


def test_functions_outside_of_classes_are_declared_with_what_they_extend() -> None:
    assert [one.name for one in facts("fun f() {}\nfun String.f() {}\nobject O {\n fun g() {}\n}").declarations] == [
        "f()",
        "String.f()",
        "O.g",
    ]


def test_what_is_said_of_one_thing_in_a_block_is_said_of_it() -> None:
    found = inside('assertFailure { f(1) }.all { isInstanceOf<Gone>(); hasMessage("gone") }').assertions
    assert [(one.about, one.strength, one.error or one.expected) for one in found] == [
        ("f(1)", EXACTLY, "Gone"),
        ("f(1)", EXACTLY, '"gone"'),
    ]
    assert strengths("assertThat(x).all { }") == [NOTHING]


def test_nested_classes_are_looked_into_where_jupiter_does() -> None:
    jupiter = "import org.junit.jupiter.api.Test\n"
    assert collected(jupiter + "class A {\n @Nested inner class B {\n @Test fun b() {}\n }\n}") == ["A.B.b"]
    assert collected(jupiter + "class A {\n inner class B {\n @Test fun b() {}\n }\n}") == []
    assert collected(jupiter + "class A {\n class B {\n @Test fun b() {}\n }\n}") == ["A.B.b"]


def test_an_expression_is_a_body() -> None:
    code = "class A {\n @Test fun a() = runTest(timeout = 10.seconds) {\n assertEquals(3, f())\n }\n}"
    found = kotlin.test(declared(code, "A.a"))
    assert [one.expected for one in found.assertions] == ["3"]
    assert found.timeout == 10


@pytest.mark.parametrize(
    ("before", "running"),
    [
        ("@Ignore @Test", NEVER),
        ('@Disabled("x") @Test', NEVER),
        ("@Test(enabled = false)", NEVER),
        ("@EnabledOnOs(OS.LINUX) @Test", SOMETIMES),
        ("@IgnoreJs @Test", SOMETIMES),
        ("@Test", ALWAYS),
    ],
)
def test_marks_decide_whether_it_runs(before: str, running: Running) -> None:
    assert inside("assertEquals(1, f())", before).running is running


def test_a_class_that_is_switched_off_and_a_setup_that_skips_decide_too() -> None:
    assert inside("f()", of='@Ignore("x")').running is NEVER
    assert inside("f()", members="@BeforeTest fun b() { Assume.assumeTrue(false) }").running is NEVER
    assert inside("f()", members="fun b() { Assume.assumeTrue(false) }").running is ALWAYS
    assert inside("f()", members="@BeforeEach fun b() { Assumptions.assumeTrue(false) }").running is NEVER
    assert inside("Assume.assumeTrue(isUnix())\nassertEquals(1, f())").reason == "isUnix()"
    assert inside("assumeTrue(false)\nassertEquals(1, f())").running is NEVER


@pytest.mark.parametrize(
    ("code", "about", "expected"),
    [
        ("assertEquals(3, f())", "f()", "3"),
        ("assertEquals(expected = 3, actual = f())", "f()", "3"),
        ("assertEquals(actual = f(), expected = 3)", "f()", "3"),
        ('assertEquals(3, f(), "sum")', "f()", "3"),
        ("assertContentEquals(x, f())", "f()", "x"),
        ("assertNull(f())", "f()", "null"),
        ("expect(3) { f() }", "f()", "3"),
        ("f() shouldBe 3", "f()", "3"),
        ("f().shouldBe(3)", "f()", "3"),
        ("f() shouldBeEqualTo 3", "f()", "3"),
        ("f() should be(3)", "f()", "3"),
        ("f().shouldContainExactly(1, 2)", "f()", "1, 2"),
        ("assertThat(f()).isEqualTo(3)", "f()", "3"),
        ("expectThat(f()).isEqualTo(3)", "f()", "3"),
        ("assert(f() == 3)", "f()", "3"),
        ("check(f() == 3)", "f()", "3"),
        ("assertTrue(f() == 3)", "f()", "3"),
        ("assertTrue { f() == 3 }", "f()", "3"),
    ],
)
def test_equality_is_exact_in_every_style(code: str, about: str, expected: str) -> None:
    found = asserted(code)
    assert (found.strength, found.about, found.expected) == (EXACTLY, about, expected)


@pytest.mark.parametrize(
    ("code", "strength"),
    [
        ("assertContains(f(), 3)", PARTLY),
        ("f() shouldContain 3", PARTLY),
        ("f().shouldHaveSize(3)", PARTLY),
        ("f() shouldNotBe 3", PARTLY),
        ('f() should startWith("a")', PARTLY),
        ("f().shouldBeTrue()", PARTLY),
        ("verify { mail.send(any()) }", PARTLY),
        ("coVerify(exactly = 2) { mail.send() }", PARTLY),
        ('verify { mail.send("a") }', EXACTLY),
        ("confirmVerified(mail)", PARTLY),
        ("forAll(Arb.int()) { it * 2 > it }", PARTLY),
        ("assertNotNull(f())", SOMETHING),
        ("assertIs<B>(f())", SOMETHING),
        ("f().shouldNotBeNull()", SOMETHING),
        ("f().shouldBeInstanceOf<B>()", SOMETHING),
        ("shouldNotThrowAny { f() }", SOMETHING),
        ("assertTrue(f() is B)", SOMETHING),
        ("true shouldBe true", NOTHING),
        ("x shouldBe x", NOTHING),
        ("assert(true)", NOTHING),
        ("assertTrue(f() || true)", NOTHING),
        ("1 shouldBe 1", NOTHING),
        ("forAll(Arb.int()) { true }", NOTHING),
        ("verify(atLeast = 0) { mail.send() }", NOTHING),
    ],
)
def test_how_much_is_asserted(code: str, strength: Strength) -> None:
    assert strengths(code) == [strength]


@pytest.mark.parametrize(
    ("code", "error", "strength"),
    [
        ("assertFailsWith<BadInput> { f(1) }", "BadInput", EXACTLY),
        ("assertFailsWith(BadInput::class) { f(1) }", "BadInput", EXACTLY),
        ("assertThrows<BadInput> { f(1) }", "BadInput", EXACTLY),
        ("shouldThrow<BadInput> { f(1) }", "BadInput", EXACTLY),
        ("try { f(1); fail() } catch (e: BadInput) { }", "BadInput", EXACTLY),
        ("assertFailsWith<Exception> { f(1) }", "Exception", PARTLY),
        ("assertFails { f(1) }", None, PARTLY),
        ("shouldThrowAny { f(1) }", None, PARTLY),
    ],
)
def test_errors_that_are_expected(code: str, error: str | None, strength: Strength) -> None:
    found = asserted(code)
    assert (found.about, found.error, found.strength) == ("f(1)", error, strength)


def test_the_message_of_an_error_is_asserted_besides() -> None:
    first, second = inside('shouldThrow<BadInput> { f() }.message shouldBe "bad"').assertions
    assert {first.error, second.error} == {None, "BadInput"}


def test_tolerances() -> None:
    assert asserted("assertEquals(3.0, f(), 0.01)").tolerance == 0.01
    assert asserted("assertEquals(3.0, f(), absoluteTolerance = 0.1)").tolerance == 0.1
    assert asserted("f() shouldBe (3.0 plusOrMinus 0.5)").tolerance == 0.5
    assert asserted("f() shouldBe 3.0").tolerance is None


@pytest.mark.parametrize(
    "body",
    [
        "return\nassertEquals(1, f())",
        "if (true) return\nassertEquals(1, f())",
        "if (false) { assertEquals(1, f()) }",
        "try { assertEquals(1, f()) } catch (e: Throwable) { }",
        "try { assertEquals(1, f()) } catch (e: AssertionError) { println(e) }",
        "emptyList<Int>().forEach { assertEquals(1, it) }",
        "for (x in listOf<Int>()) { assertEquals(1, x) }",
        "val unused = { assertEquals(1, f()) }",
        "fun unused() { assertEquals(1, f()) }\ng()",
        "exitProcess(0)\nassertEquals(1, f())",
    ],
)
def test_assertions_that_can_not_fail_are_not_listed(body: str) -> None:
    found = inside(body)
    assert (found.assertions, found.unreached) == ((), 1)


@pytest.mark.parametrize(
    "body",
    [
        "list.forEach { assertEquals(1, it) }",
        "try { assertEquals(1, f()) } catch (e: IOException) { }",
        "x.use { assertEquals(1, f()) }",
        "val run = { assertEquals(1, f()) }\nrun()",
        "pipe.fold(object : Sink(x) {\n override fun write() {\n assertEquals(1, f())\n }\n })",
        "list.forEach { if (it == null) return@forEach }\nassertEquals(1, f())",
    ],
)
def test_assertions_that_can_fail_are_listed(body: str) -> None:
    found = inside(body)
    assert (len(found.assertions), found.unreached, found.leaves) == (1, 0, None)


def test_how_a_test_ends_early() -> None:
    assert inside("if (isWindows()) return\nassertEquals(1, f())").leaves == "if (isWindows()) return"
    assert inside("val x = g() ?: return\nassertEquals(1, x)").leaves == "if (g() == null) return"
    code = "class A {\n @Test fun a() = runTest {\n if (off) return@runTest\n assertEquals(1, f())\n }\n}"
    assert kotlin.test(declared(code, "A.a")).leaves == "if (off) return@runTest"
    assert inside("assertEquals(1, f())").leaves is None


def test_what_is_replaced_is_named() -> None:
    body = "val m = mockk<Mail>()\nval s: Shop = mockk()\nevery { m.send(any()) } returns 3\nmockkObject(Clock)"
    assert inside(body).mocks == ("Mail", "Shop", "m.send", "Clock")
    assert inside("whenever(m.total()).thenReturn(3)\nassertEquals(3, m.total())").assertions[0].strength is NOTHING
    assert inside("every { m.total() } returns 3\nm.total() shouldBe 3").assertions[0].strength is NOTHING
    assert inside("x.run()", members="@MockK lateinit var x: Mail").mocks == ("Mail",)


def test_cases() -> None:
    assert inside("f()", "@ParameterizedTest @ValueSource(ints = [1, 2])").cases == ("1", "2")
    assert inside("listOf(1 to 2, 3 to 4).forEach { assertTrue(f(it)) }").cases == ("1 to 2", "3 to 4")
    assert inside("for (x in listOf(1, 2)) { assertTrue(f(x)) }").cases == ("1", "2")
    given = "companion object {\n @JvmStatic fun g() = listOf(of(1, 2), of(3, 4))\n }"
    assert inside("f()", '@ParameterizedTest @MethodSource("g")', members=given).cases == ("of(1, 2)", "of(3, 4)")
    assert inside("f()").cases == ()


def test_what_is_inside_a_function() -> None:
    code = """fun f(a: String?): Int {
        require(a != "x") { "no" }
        val b = a ?: throw IllegalArgumentException()
        if (b.isEmpty()) throw BadInput("empty")
        try { g() } catch (e: Exception) { }
        if (c) return null
        return h(b)
    }"""
    found = function_of(code)
    assert found.guards == ('require(a != "x") { "no" }', "a ?: throw IllegalArgumentException()", "b.isEmpty()")
    assert found.raises == ("IllegalArgumentException", "BadInput")
    assert [(one.errors, one.is_broad, one.is_silent) for one in found.handlers] == [("Exception", True, True)]
    assert (found.stub, found.returns_nothing, found.answers) == (None, 1, ())


@pytest.mark.parametrize(
    ("code", "stub"),
    [
        ("fun f(): Int = TODO()", "TODO()"),
        ('fun f() { TODO("later") }', 'TODO("later")'),
        ("fun f() { throw NotImplementedError() }", "throw NotImplementedError()"),
        ('fun f() { error("not implemented") }', 'error("not implemented")'),
        ('fun f() { error("bad state") }', None),
        ("fun f() { if (x) TODO() else g() }", None),
        ("fun f() { }", None),
    ],
)
def test_stubs(code: str, stub: str | None) -> None:
    assert function_of(code).stub == stub


@pytest.mark.parametrize(
    "body",
    [
        "if (a == 1) return 10\n if (a == 2) { return 20 }\n return g(a)",
        "return when (a) {\n 1 -> 10\n 2 -> 20\n else -> g(a)\n }",
        "return mapOf(1 to 10, 2 to 20)[a]",
    ],
)
def test_answers_looked_up(body: str) -> None:
    assert function_of(f"fun f(a: Int): Int {{\n {body}\n}}").answers == ("1", "2")


def test_what_is_no_lookup() -> None:
    assert function_of("fun f(a: Int) = when (a) {\n 1 -> g(a)\n in 2..3 -> 4\n else -> 5\n}").answers == ()


def test_results_that_nobody_takes_swallow_errors() -> None:
    assert [one.is_silent for one in function_of("fun f() {\n runCatching { g() }\n h()\n}").handlers] == [True]
    assert function_of("fun f() {\n val x = runCatching { g() }\n h(x)\n}").handlers == ()


def test_equality_that_does_not_look() -> None:
    assert function_of("fun equals(other: Any?): Boolean = true").always_equal is True
    assert function_of("fun equals(other: Any?): Boolean = other is A").always_equal is False


def test_asking_whether_it_is_tested() -> None:
    asked = 'System.getenv("CI")'
    assert function_of(f"fun f() {{ if ({asked} != null) g() }}").asks_if_tested == (asked,)
    assert function_of('fun f() { if (System.getenv("HOME") != null) g() }').asks_if_tested == ()
    assert facts(f"val ci = {asked} != null").asks_if_tested == (asked,)


def test_what_a_file_says() -> None:
    code = """@file:Suppress("unused")
    const val ON = true
    var name = "x"
    object O {
      val OFF = false
    }
    // TODO later
    class A {
      @Suppress("x") val closed = false
      init { exitProcess(0) }
    }
    """
    found = facts(code)
    assert found.suppressions == ('@file:Suppress("unused")', '@Suppress("x")')
    assert found.todos == ("// TODO later",)
    assert found.flags == (("ON", True), ("O.OFF", False))
    assert found.exits == ("exitProcess(0)",)
    assert facts("fun main() { exitProcess(1) }").exits == ()
    assert facts("class A : AbstractProjectConfig() { }").hooks == ("A: AbstractProjectConfig",)


def test_code_in_comments() -> None:
    code = "class A {\n // @Test\n // fun a() {\n //   assertEquals(1, f())\n // }\n\n // val x = f(1)\n}"
    first, second = facts(code).commented
    assert (first.line, first.lines, first.is_test) == (2, 4, True)
    assert (second.line, second.is_test) == (7, False)


@pytest.mark.parametrize(
    "comment",
    [
        "// limit = size - 10",
        "// tables() returns entries (parent + child)",
        "// see the docs",
        "// then: f(x) is called",
        "/** val x = 3 */",
    ],
)
def test_prose_is_no_code(comment: str) -> None:
    assert facts(f"class A {{\n{comment}\n}}").commented == ()


def test_broken_and_odd_code_is_read_without_a_crash() -> None:
    whole = (
        'class Ä : FunSpec({ test("naïve").config(enabled = false) { x shouldBe 3 } }) { @Test(expected = X::class) '
        "fun a() = runTest { try { f(); fail() } catch (e: A) { } val y = g() ?: return@runTest\n when (a) { 1 -> 2; "
        "else -> TODO() } "
        'every { m.f(any()) } returns 3 } companion object { fun b(a: Int) = mapOf("a" to 1)[a] } } /* x */ // y\n'
    )
    drawn = random.Random(3)
    texts = [
        "",
        "\r\n",
        "}",
        "@",
        "class",
        "f" + "()" * 1500,
        "x" + " shouldBe 1" * 1500,
        "fun a() {" + "{" * 1500 + "}" * 1501,
    ]
    texts += [whole[: drawn.randrange(len(whole))] + whole[drawn.randrange(len(whole)) :] for _ in range(300)]
    for text in texts:
        read_whole(kotlin.facts(SgRoot(text, "kotlin").root(), "A.kt"), kotlin)
