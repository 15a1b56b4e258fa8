"""Which Java tests there are, whether they run, with what and for how long."""

import random

import pytest
from ast_grep_py import SgRoot

from guard.languages.whole import read_whole
from untilproven.guard.facts import Declaration, Facts, Running
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import java
from untilproven.guard.reading import read

NEVER, SOMETIMES, ALWAYS = Running
JUPITER = "import org.junit.jupiter.api.*;\n"


def facts(code: str, path: str = "ATest.java") -> Facts:
    return read(path, code.encode())


def collected(code: str) -> list[str]:
    return [one.name for one in facts(code).declarations if one.is_test]


def declared(code: str, name: str) -> Declaration:
    return next(one for one in facts(code).declarations if one.name == name)


def inside(body: str, before: str = "@Test", *, members: str = "", of: str = "") -> Inside:
    """The test in a class of its own, with other members next to it and something before the class."""
    return java.test(declared(f"{of} class A {{ {before} void a() throws Exception {{ {body} }} {members} }}", "A.a"))


def test_methods_marked_as_tests_are_tests_and_others_are_functions() -> None:
    found = facts(
        "class A { @Test void a() {} void helper() {} A() {} @Override public String toString() { return a; } }"
    )
    assert [(one.name, one.is_test) for one in found.declarations] == [
        ("A.a", True),
        ("A.helper", False),
        ("A.A", False),
        ("A.toString", False),
    ]


@pytest.mark.parametrize(
    "mark",
    [
        "@Test",
        "@org.junit.Test",
        "@ParameterizedTest",
        "@RepeatedTest(3)",
        "@TestFactory",
        "@Theory",
        "@Test(timeout=1)",
    ],
)
def test_every_mark_of_a_test_counts(mark: str) -> None:
    assert collected(f"class A {{ {mark} public void a() {{}} }}") == ["A.a"]


@pytest.mark.parametrize("before", ["@Test private", "@Test static", "@Test abstract", "@BeforeEach", "@Tested", ""])
def test_what_a_runner_passes_over_is_no_test(before: str) -> None:
    assert collected(f"class A {{ {before} void a() {{}} }}") == []


def test_junit_3_collects_by_name_and_base_class() -> None:
    body = "{ public void testA() {} public void xtestB() {} void testC(int i) {} private void testD() {} }"
    assert collected(f"import junit.framework.TestCase; class A extends TestCase {body}") == ["A.testA"]
    assert collected(f"class A extends AbstractTestCase {body}") == ["A.testA"]
    assert collected(f"class A {body}") == []
    assert collected(f"import org.junit.Test; class A extends BaseTestCase {body}") == []


def test_classes_within_classes_are_part_of_the_name() -> None:
    assert collected(JUPITER + "class A { @Nested class B { @Nested class C { @Test void c() {} } } }") == ["A.B.C.c"]


def test_jupiter_does_not_look_into_an_inner_class_that_is_not_nested() -> None:
    assert collected(JUPITER + "class A { class B { @Test void b() {} } }") == []
    assert collected(JUPITER + "class A { static class B { @Test void b() {} } }") == ["A.B.b"]
    assert collected("import org.junit.Test; class A { class B { @Test void b() {} } }") == ["A.B.b"]


def test_overloads_are_told_apart_by_their_types() -> None:
    found = facts("class A { void f(int a) {} void f(String a, int... b) {} void g(int a) {} }")
    assert [one.name for one in found.declarations] == ["A.f(int)", "A.f(String, int)", "A.g"]


def test_names_stay_when_code_is_laid_out_anew() -> None:
    tight = "class A{@Test void a(){assertEquals(1,f());}}"
    wide = "class A\n{\n  @Test\n  void a()\n  {\n    assertEquals(\n      1,\n      f());\n  }\n}\n"
    assert collected(tight) == collected(wide)
    assert [one.expected for one in java.test(declared(wide, "A.a")).assertions] == ["1"]


def test_methods_of_anonymous_classes_in_fields_are_declared_and_those_in_methods_are_not() -> None:
    code = "class A { static final B X = new B() { int read() { return 1; } }; void f() { new B() { void g() {} }; } }"
    assert [one.name for one in facts(code).declarations] == ["A.X.read", "A.f"]


def test_members_of_interfaces_enums_and_records_are_declared() -> None:
    code = "interface I { default int f() {} } enum E { A { void g() {} }; void h() {} } record R(int a) { R {} }"
    assert [one.name for one in facts(code).declarations] == ["I.f", "E.A.g", "E.h", "R.R"]


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ('@Disabled("flaky")', "flaky"),
        ("@Ignore", "@Ignore"),
        ('@Ignore("later")', "later"),
        ('@DisabledIf("true")', '@DisabledIf("true")'),
        ("@DisabledOnOs({OS.LINUX, OS.MAC, OS.WINDOWS})", "@DisabledOnOs({OS.LINUX, OS.MAC, OS.WINDOWS})"),
    ],
)
def test_marks_that_switch_a_test_off(mark: str, reason: str) -> None:
    found = inside("assertEquals(1, f());", f"{mark} @Test")
    assert (found.running, found.reason) == (NEVER, reason)


def test_a_test_that_takes_a_failed_assertion_for_success_is_expected_to_fail() -> None:
    assert inside("assertEquals(1, f());", "@Test(expected = Throwable.class)").running is NEVER
    assert inside("assertEquals(1, f());", "@Test(expected = AssertionError.class)").running is NEVER
    assert inside("assertEquals(1, f());", "@Test(expected = Exception.class)").running is ALWAYS
    assert inside("f();", "@Test(expected = Throwable.class)").running is ALWAYS


def test_testng_switches_off_with_an_option() -> None:
    assert inside("", "@Test(enabled = false)").running is NEVER
    assert inside("", "@Test(enabled = true)").running is ALWAYS
    assert inside("", "@Test").running is ALWAYS
    assert inside("", "@Test").reason is None


@pytest.mark.parametrize(
    "mark",
    [
        "@EnabledOnOs(OS.LINUX)",
        "@DisabledOnOs(OS.WINDOWS)",
        "@EnabledOnJre(JRE.JAVA_21)",
        '@EnabledIfSystemProperty(named = "large", matches = "true")',
        '@DisabledIfEnvironmentVariable(named = "CI", matches = ".*")',
        '@EnabledIf("isSupported")',
    ],
)
def test_conditions_of_the_machine_make_it_run_sometimes(mark: str) -> None:
    found = inside("", f"{mark} @Test")
    assert (found.running, found.reason) == (SOMETIMES, mark)


def test_a_condition_that_always_skips_is_found_in_the_method_it_names() -> None:
    for answer, running in (("true", NEVER), ("os()", SOMETIMES)):
        members = f"static boolean off() {{ return {answer}; }}"
        assert inside("", '@DisabledIf("off") @Test', members=members).running is running


def test_what_switches_a_class_off_switches_its_tests_off() -> None:
    assert inside("", of="@Disabled").running is NEVER
    code = JUPITER + '@Ignore("x") class A { @Nested class B { @Test void b() {} } }'
    assert java.test(declared(code, "A.B.b")).reason == "x"


def test_a_mark_on_the_class_is_part_of_the_text_of_its_tests() -> None:
    before, after = (declared(f"{mark} class A {{ @Test void a() {{}} }}", "A.a") for mark in ("", "@Disabled"))
    assert before.text != after.text


@pytest.mark.parametrize(
    "first",
    [
        "assumeTrue(false);",
        "Assume.assumeTrue(1 == 2);",
        'Assumptions.assumeTrue(false, "off");',
        "assumeFalse(true);",
        "assumeTrue(!true);",
        "assumeTrue(x != x);",
        'assumeFalse(System.getProperty("os.name") != null);',
        "Assumptions.abort();",
        'throw new SkipException("off");',
        "if (true) { throw new TestAbortedException(); }",
    ],
)
def test_a_skip_that_always_happens_first_is_as_good_as_a_mark(first: str) -> None:
    assert inside(f"{first} assertEquals(1, f());").running is NEVER


def test_a_constant_of_the_file_decides_as_its_value_does() -> None:
    changed = "boolean OFF = true; void b() { OFF = isUnix(); }"
    for kind, running in (("static final boolean OFF = true;", NEVER), (changed, SOMETIMES)):
        assert inside("assumeFalse(OFF); assertEquals(1, f());", members=kind).running is running


def test_an_assumption_about_the_machine_is_a_condition() -> None:
    found = inside('assumeTrue("needs a shell", isUnix()); assertEquals(1, f());')
    assert (found.running, found.reason) == (SOMETIMES, "isUnix()")
    assert inside("if (isWindows()) { throw new SkipException(x); } assertEquals(1, f());").reason == "isWindows()"
    assert inside("assumeTrue(true); assertEquals(1, f());").running is ALWAYS
    assert inside("assertEquals(1, f()); assumeTrue(false); g();").running is SOMETIMES


def test_a_skip_before_each_test_is_a_skip_of_each() -> None:
    assert inside("", members="@BeforeEach void b() { assumeTrue(false); }").running is NEVER
    assert inside("", members="@BeforeAll static void b() { assumeTrue(isUnix()); }").running is SOMETIMES
    assert inside("", members="void b() { assumeTrue(false); }").running is ALWAYS


@pytest.mark.parametrize(
    ("before", "cases"),
    [
        ("@ParameterizedTest @ValueSource(ints = {1, 2, 3})", ("1", "2", "3")),
        ('@ParameterizedTest @ValueSource(strings = "a")', ('"a"',)),
        ('@ParameterizedTest @CsvSource({"1,2", "3,4"})', ('"1,2"', '"3,4"')),
        ('@ParameterizedTest @CsvSource(textBlock = """\n  1, 2\n  # no\n  3, 4\n  """)', ("1, 2", "3, 4")),
        ("@ParameterizedTest @EnumSource(Size.class)", ("Size.class",)),
        ("@ParameterizedTest @NullAndEmptySource", ("null", "empty")),
        ("@RepeatedTest(2)", ("repetition 1", "repetition 2")),
        ("@Test", ()),
    ],
)
def test_cases_written_in_annotations(before: str, cases: tuple[str, ...]) -> None:
    assert inside("assertEquals(1, f());", before).cases == cases


@pytest.mark.parametrize(
    ("before", "members"),
    [
        (
            '@ParameterizedTest @MethodSource("g")',
            "static Stream<Arguments> g() { return Stream.of(of(1, 2), of(3, 4)); }",
        ),
        (
            "@ParameterizedTest @MethodSource",
            "static Stream<Arguments> a() { int[] x = {1}; return Stream.of(of(1, 2), of(3, 4)); }",
        ),
        (
            '@Test(dataProvider = "g")',
            '@DataProvider(name = "g") Object[][] h() { return new Object[][] {of(1, 2), of(3, 4)}; }',
        ),
        (
            '@CartesianTest @CartesianTest.MethodFactory("g")',
            "static ArgumentSets g() { return ArgumentSets.argumentsForFirstParameter(of(1, 2), of(3, 4)); }",
        ),
        ("@Test", "@Parameters static List<Object> g() { return Arrays.asList(of(1, 2), of(3, 4)); }"),
    ],
)
def test_cases_given_by_a_method(before: str, members: str) -> None:
    name = "A.a()" if " a()" in members else "A.a"
    code = f"class A {{ {before} void a({'' if name == 'A.a()' else 'int x'}) {{ }} {members} }}".replace(
        "a(int x) { }", "a(int x) { }"
    )
    found = next(one for one in facts(code).declarations if one.is_test)
    assert java.test(found).cases == ("of(1, 2)", "of(3, 4)")
    assert "of(3, 4)" in found.text


def test_cases_may_stand_before_a_parameter() -> None:
    source = 'class A { @Test void t(@TestParameter({"a", "b"}) String x, @Values(ints = {1, 2}) int y) { f(x, y); } }'
    assert java.test(declared(source, "A.t")).cases == ('"a"', '"b"', "1", "2")


@pytest.mark.parametrize(
    "body",
    [
        "return Arrays.stream(Size.values()).map(it -> new Object[] {it}).toList();",
        "List<Object[]> all = f(); for (Size it : Size.values()) { all.add(new Object[] {it}); } return all;",
    ],
)
def test_cases_that_are_computed_are_not_known(body: str) -> None:
    assert inside("f();", members=f"@Parameters static Object g() {{ {body} }}").cases == ()


def test_rows_that_a_test_goes_through_are_cases() -> None:
    assert inside('for (String s : new String[] {"a", "b"}) { assertTrue(f(s)); }').cases == ('"a"', '"b"')
    assert inside("List.of(1, 2).forEach(x -> assertTrue(f(x)));").cases == ("1", "2")
    assert inside("for (X x : all()) { assertTrue(f(x)); }").cases == ()
    body = 'return Stream.of(dynamicTest("one", () -> assertTrue(f())), dynamicTest("two", () -> assertTrue(g())));'
    assert inside(body, "@TestFactory").cases == ('"one"', '"two"')
    assert inside(body, "@TestFactory").leaves is None


def test_what_is_replaced_is_named() -> None:
    body = (
        "Mail m = mock(Mail.class); when(m.send(1)).thenReturn(2); doReturn(3).when(shop).price(2); Clock c = mock();"
    )
    assert inside(body).mocks == ("Mail", "m.send", "shop.price", "Clock")
    assert inside("mockStatic(Files.class);").mocks == ("Files",)
    assert inside("x.run();", members="@Mock Mail x; @Mock Shop y;").mocks == ("Mail",)
    assert inside("assertEquals(1, f());").mocks == ()


def test_limits_of_time_in_seconds() -> None:
    assert inside("", "@Test(timeout = 500)").timeout == 0.5
    assert inside("", "@Timeout(2) @Test").timeout == 2
    assert inside("", "@Timeout(value = 2, unit = TimeUnit.MINUTES) @Test").timeout == 120
    assert inside("assertTimeout(Duration.ofMillis(100), () -> f());").timeout == 0.1
    assert inside("").timeout is None


def test_retries() -> None:
    assert inside("", "@RetryingTest(3)").retries == 3
    assert inside("", "@Test(retryAnalyzer = Again.class)").retries == 1
    assert inside("").retries is None


def test_broken_and_odd_code_is_read_without_a_crash() -> None:
    whole = (
        "package a; class Ä { @Test(expected = X.class) void naïve() { try { f(); fail(); } catch (A | B e) { } "
        "assertThat(x).isEqualTo(3); switch (a) { case 1 -> 2; } if (a && b) return; verify(m, times(1)).f(any()); "
        '@ValueSource(ints = {1}) int g(int a) { return a == 1 ? 2 : Map.of("a", 1).get(a); } } /* x */ // y\n }'
    )
    drawn = random.Random(3)
    texts = ["", "\r\n", "}", "@", "class", whole.replace(" ", "\r\n\t")]
    texts += [whole[: drawn.randrange(len(whole))] + whole[drawn.randrange(len(whole)) :] for _ in range(300)]
    for text in texts:
        read_whole(java.facts(SgRoot(text, "java").root(), "A.java"), java)


@pytest.mark.parametrize(
    "body",
    [
        "{" * 2000 + "}" * 2000,
        "if (true) " * 2000 + "return;",
        "assertTrue(" + "!" * 2000 + "true);",
        "assertTrue(" + "a && " * 2000 + "b);",
        "assertTrue(" + "(" * 2000 + "a" + ")" * 2000 + ");",
        "x" + ".f()" * 2000 + ";",
        "assertThat(x)" + ".isEqualTo(3)" * 2000 + ";",
        "List.of(" * 1000 + "1" + ")" * 1000 + ".forEach(x -> f(x));",
        "if (a == 1 && " + "a == 1 && " * 2000 + "a == 1) return 1;",
        "try { " * 500 + "f();" + " } catch (A e) { }" * 500,
    ],
)
def test_deep_code_is_read_without_a_crash(body: str) -> None:
    root = SgRoot(f"class A {{ @Test void a(int a) {{ {body} }} }}", "java").root()
    facts = java.facts(root, "A.java")
    assert len(facts.declarations) == 1
    read_whole(facts, java)
