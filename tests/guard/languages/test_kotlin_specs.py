"""kotest's specifications, in each of its styles."""

import pytest

from untilproven.guard.facts import Declaration, Running, Strength
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import kotlin
from untilproven.guard.reading import read

NEVER, SOMETIMES, ALWAYS = Running


def examples_of(code: str) -> tuple[Declaration, ...]:
    return tuple(one for one in read("ASpec.kt", code.encode()).declarations if one.is_test)


def only(code: str) -> Inside:
    (declaration,) = examples_of(code)
    return kotlin.test(declaration)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('class A : StringSpec({ "adds up" { f() shouldBe 3 } })', "A > adds up"),
        ('class A : FunSpec({ test("adds up") { f() shouldBe 3 } })', "A > adds up"),
        ('class A : FunSpec({ context("cart") { test("adds up") { f() shouldBe 3 } } })', "A > cart > adds up"),
        ('class A : DescribeSpec({ describe("cart") { it("adds up") { f() shouldBe 3 } } })', "A > cart > adds up"),
        ('class A : ShouldSpec({ should("add up") { f() shouldBe 3 } })', "A > add up"),
        ('class A : WordSpec({ "cart" should { "add up" { f() shouldBe 3 } } })', "A > cart > add up"),
        ('class A : FreeSpec({ "cart" - { "adds up" { f() shouldBe 3 } } })', "A > cart > adds up"),
        ('class A : FeatureSpec({ feature("cart") { scenario("adds up") { f() shouldBe 3 } } })', "A > cart > adds up"),
        ('class A : BehaviorSpec({ given("a") { `when`("b") { then("c") { f() shouldBe 3 } } } })', "A > a > b > c"),
        ('class A : FunSpec() { init { test("adds up") { f() shouldBe 3 } } }', "A > adds up"),
        ('class A : FunSpec({ listOf(1).forEach { test("adds up") { f() shouldBe 3 } } })', "A > adds up"),
    ],
)
def test_every_style_names_its_tests_by_what_stands_around_them(code: str, name: str) -> None:
    assert [one.name for one in examples_of(code)] == [name]
    assert [one.strength for one in only(code).assertions] == [Strength.EXACTLY]


def test_calls_elsewhere_are_no_tests() -> None:
    assert examples_of('class A : Base({ test("a") { } })') == ()
    assert examples_of('fun f() { test("a") { } }') == ()
    assert examples_of("class A : FunSpec({ beforeTest { f() }\n val x = test })") == ()


@pytest.mark.parametrize(
    ("code", "running"),
    [
        ('xtest("a") { f() }', NEVER),
        ('xcontext("c") { test("a") { f() } }', NEVER),
        ('test("!a") { f() }', NEVER),
        ('test("a").config(enabled = false) { f() }', NEVER),
        ('test("a").config(enabled = isLinux) { f() }', SOMETIMES),
        ('test("a").config(enabledIf = { false }) { f() }', NEVER),
        ('test("a").config(enabledIf = { isLinux() }) { f() }', SOMETIMES),
        ('context("c").config(enabled = false) { test("a") { f() } }', NEVER),
        ('test("a").config(enabled = true) { f() }', ALWAYS),
        ('test("a") { f() }', ALWAYS),
    ],
)
def test_what_switches_a_test_off(code: str, running: Running) -> None:
    assert only(f"class A : FunSpec({{ {code} }})").running is running


def test_the_name_stays_when_a_test_is_crossed_out() -> None:
    ways = ('test("a")', 'xtest("a")', 'test("!a")')
    names = [examples_of(f"class A : FunSpec({{ {way} {{ }} }})")[0].name for way in ways]
    assert names == ["A > a"] * 3


def test_a_focused_test_leaves_the_others_out() -> None:
    first, second = examples_of('class A : FunSpec({ test("f:a") { f() }\n test("b") { g() } })')
    assert [kotlin.test(one).running for one in (first, second)] == [ALWAYS, NEVER]


def test_what_crosses_out_a_group_is_part_of_the_text_of_its_tests() -> None:
    groups = ('context("c")', 'xcontext("c")')
    before, after = (examples_of(f'class A : FunSpec({{ {one} {{ test("a") {{ }} }} }})')[0] for one in groups)
    assert before.text != after.text
    assert examples_of('@Ignored\nclass A : FunSpec({ test("a") { } })')[0].text != before.text
    assert only('@Ignored\nclass A : FunSpec({ test("a") { f() } })').running is NEVER


def test_options_and_cases() -> None:
    found = only('class A : FunSpec({ test("a").config(retries = 3, timeout = 2.seconds) { f() } })')
    assert (found.retries, found.timeout) == (3, 2)
    assert only("class A : FunSpec({ withData(1, 2) { x -> f(x) shouldBe x } })").cases == ()
    assert only('class A : StringSpec({ "a" { forAll(row(1, 2), row(3, 4)) { a, b -> a shouldBe b } } })').cases == (
        "row(1, 2)",
        "row(3, 4)",
    )
    plain = only('class A : FunSpec({ test("a") { f() } })')
    assert (plain.retries, plain.timeout, plain.cases) == (None, None, ())


def test_a_test_without_a_body_asserts_nothing() -> None:
    assert only('class A : FunSpec({ test("a") { } })').assertions == ()
