import random

import pytest
from ast_grep_py import SgRoot

from untilproven.guard.facts import Assertion, Declaration, Facts, Function, Running, Strength
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import java
from untilproven.guard.reading import read

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength
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


def asserted(body: str, before: str = "@Test") -> Assertion:
    (only,) = inside(body, before).assertions
    return only


def strengths(body: str) -> list[Strength]:
    return [one.strength for one in inside(body).assertions]


def function_of(code: str, name: str = "A.f") -> Function:
    return java.function(declared(f"class A {{ {code} }}", name))


# which tests there are


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
    code = "interface I { default int f() { return 1; } } enum E { A { void g() {} }; void h() {} } record R(int a) { R { } }"
    assert [one.name for one in facts(code).declarations] == ["I.f", "E.A.g", "E.h", "R.R"]


# whether they run


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
    for kind, running in (("static final boolean OFF = true;", NEVER), ("static boolean OFF = true;", SOMETIMES)):
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


# what they assert


@pytest.mark.parametrize(
    ("code", "about", "expected"),
    [
        ("assertEquals(3, f());", "f()", "3"),
        ("Assert.assertEquals(x, f());", "f()", "x"),
        ('assertEquals("sum", x, f());', "f()", "x"),
        ('assertEquals(x, f(), "sum");', "f()", "x"),
        ('Assertions.assertEquals("a", f(), () -> "sum");', "f()", '"a"'),
        ("assertEquals(f(), 3);", "f()", "3"),
        ("assertSame(x, f());", "f()", "x"),
        ("assertArrayEquals(x, f());", "f()", "x"),
        ("assertNull(f());", "f()", "null"),
        ("assertTrue(f() == 3);", "f()", "3"),
        ('assertTrue(f().equals("a"));', "f()", '"a"'),
        ('assertTrue("a".equals(f()));', "f()", '"a"'),
        ("assertTrue(Objects.equals(f(), x));", "f()", "x"),
        ("assertFalse(f() != 3);", "f()", "3"),
        ("assert f() == 3;", "f()", "3"),
        ("assertThat(f()).isEqualTo(3);", "f()", "3"),
        ('assertThat(f()).as("sum").isEqualTo(3);', "f()", "3"),
        ("softly.assertThat(f()).isEqualTo(3);", "f()", "3"),
        ("assertWithMessage(m).that(f()).isEqualTo(3);", "f()", "3"),
        ("assertThat(f()).containsExactly(1, 2);", "f()", "1, 2"),
        ("assertThat(f(), is(3));", "f()", "3"),
        ('assertThat("sum", f(), is(equalTo(3)));', "f()", "3"),
        ("assertThat(f(), nullValue());", "f()", "null"),
        ("assertThat(f(), containsInAnyOrder(1, 2));", "f()", "1, 2"),
        ('assertThat(e).hasMessage("bad");', "e", '"bad"'),
        ("assertEquals(3.0, f(), 0.0);", "f()", "3.0"),
    ],
)
def test_equality_is_exact_in_every_style(code: str, about: str, expected: str) -> None:
    found = asserted(code)
    assert (found.strength, found.about, found.expected) == (EXACTLY, about, expected)


@pytest.mark.parametrize(
    "code",
    [
        "assertTrue(f().contains(3));",
        "assertTrue(f() > 3);",
        "assertTrue(f().isReady());",
        "assertFalse(f().isReady());",
        "assertEquals(true, f());",
        "assertEquals(3, f().size());",
        "assertNotEquals(3, f());",
        "assertThat(f()).isTrue();",
        "assertThat(f()).contains(3);",
        "assertThat(f()).hasSize(3);",
        "assertThat(f()).isGreaterThan(3);",
        'assertThat(f(), containsString("a"));',
        "assertThat(f(), not(3));",
        "assertThat(f(), hasItem(3));",
        "verify(mock).call();",
        "verify(mock, never()).call(any());",
        "verifyNoMoreInteractions(mock);",
        "then(mock).should().call(3);",
        "mockMvc.perform(get(x)).andExpect(status().isOk());",
        "checkTotals(cart, 3);",
        "verifyOutput(x);",
        "page.assertTitle(x);",
    ],
)
def test_what_rules_out_a_part_is_partial(code: str) -> None:
    assert strengths(code) == [PARTLY]


@pytest.mark.parametrize(
    "code",
    [
        "assertNotNull(f());",
        "assertTrue(f() != null);",
        "assertTrue(f() instanceof B);",
        "assertInstanceOf(B.class, f());",
        "assertTrue(f().size() > 0);",
        "assertFalse(f().isEmpty());",
        "assertDoesNotThrow(() -> f());",
        "assertThat(f()).isNotNull();",
        "assertThat(f()).isInstanceOf(B.class);",
        "assertThat(f(), notNullValue());",
        "assertThat(f(), instanceOf(B.class));",
        "assertNotNull(new A());",
    ],
)
def test_what_only_looks_whether_there_is_something_is_weak(code: str) -> None:
    assert strengths(code) == [SOMETHING]


@pytest.mark.parametrize(
    "code",
    [
        "assertTrue(true);",
        "assertFalse(false);",
        "assertTrue(f() || true);",
        "assertTrue(a || !a);",
        "assertTrue(1 == 1);",
        "assertTrue(2 > 1);",
        "assertEquals(1, 1);",
        'assertEquals("a", "a");',
        "assertEquals(x, x);",
        "assertEquals(cart.total(), cart.total());",
        "assertTrue(x.equals(x));",
        "assertTrue(list.size() >= 0);",
        "assertNotNull(3);",
        "assertNull(null);",
        "assertThat(true).isTrue();",
        "assertThat(3).isEqualTo(3);",
        "assertThat(x).isEqualTo(x);",
        "assertThat(x);",
        'assertThat(x).as("x");',
        "assertThat(x, anything());",
        "assertThat(x, is(anything()));",
        "assert true;",
        "verify(mock, atLeast(0)).call();",
    ],
)
def test_what_holds_whatever_the_code_does_asserts_nothing(code: str) -> None:
    assert strengths(code) == [NOTHING]


@pytest.mark.parametrize(
    "code",
    [
        "assertEquals(new B(1), new B(1));",
        "assertEquals(B.of(1), B.of(1));",
        "assertSame(cache.lookup(1), cache.lookup(1));",
        "assertTrue(StringUtils.equals(x, x));",
        "assertEquals(it.next(), it.next());",
    ],
)
def test_making_a_thing_twice_tells_something(code: str) -> None:
    assert strengths(code)[0] > NOTHING


def test_that_a_thing_equals_itself_is_something_to_say_of_equality() -> None:
    code = "class A { @Test void equalsIsReflexive() { assertEquals(x, x); } }"
    assert [one.strength for one in java.test(declared(code, "A.equalsIsReflexive")).assertions] == [SOMETHING]


def test_a_chain_asserts_once_for_each_link_as_separate_sentences_would() -> None:
    chain = inside("assertThat(x).isNotNull().isEqualTo(3).isLessThan(f());").assertions
    apart = inside("assertThat(x).isNotNull(); assertThat(x).isEqualTo(3); assertThat(x).isLessThan(f());").assertions
    assert [one.strength for one in chain] == [SOMETHING, EXACTLY, PARTLY]
    assert [(one.text, one.about, one.expected) for one in chain] == [
        (one.text, one.about, one.expected) for one in apart
    ]


def test_what_a_chain_navigates_to_is_what_it_is_about() -> None:
    assert asserted('assertThat(x).extracting("name").isEqualTo(3);').about == 'x.extracting("name")'


def test_what_is_required_together_is_asserted_one_by_one() -> None:
    assert strengths("assertTrue(f() == 1 && g() > 2);") == [EXACTLY, PARTLY]
    assert strengths("assertTrue(f() == 1 || f() != null);") == [SOMETHING]
    assert strengths("assertAll(() -> assertEquals(1, f()), () -> assertNotNull(g()));") == [EXACTLY, SOMETHING]


@pytest.mark.parametrize(
    ("code", "tolerance"),
    [
        ("assertEquals(3.0, f(), 0.01);", 0.01),
        ('assertEquals("pi", 3.0, f(), 1e-6);', 1e-6),
        ("assertThat(f()).isCloseTo(3.0, within(0.5));", 0.5),
        ("assertThat(f()).isWithin(0.1).of(3.0);", 0.1),
        ("assertThat(f(), closeTo(3.0, 0.2));", 0.2),
        ("assertTrue(Math.abs(f() - 3.0) < 0.3);", 0.3),
    ],
)
def test_how_far_off_still_passes(code: str, tolerance: float) -> None:
    found = asserted(code)
    assert (found.strength, found.about, found.expected, found.tolerance) == (PARTLY, "f()", "3.0", tolerance)


def test_a_message_is_no_tolerance() -> None:
    assert asserted('assertEquals(3, f(), "x");').tolerance is None
    assert asserted("assertEquals(3, f(), message);").expected == "3"


@pytest.mark.parametrize(
    "code",
    [
        "assertThrows(BadInput.class, () -> f(1));",
        "assertThrows(BadInput.class, () -> { f(1); });",
        "assertThatThrownBy(() -> f(1)).isInstanceOf(BadInput.class);",
        'try { f(1); fail("no"); } catch (BadInput expected) { }',
        "try { f(1); Assert.fail(); } catch (BadInput expected) { }",
    ],
)
def test_a_particular_error_is_exact_in_every_style(code: str) -> None:
    found = asserted(code)
    assert (found.strength, found.about, found.error) == (EXACTLY, "f(1)", "BadInput")


def test_an_expected_error_of_the_whole_test_is_about_the_last_thing_done() -> None:
    found = asserted("prepare(); f(1);", "@Test(expected = BadInput.class)")
    assert (found.strength, found.about, found.error) == (EXACTLY, "f(1)", "BadInput")
    assert asserted("f(1);", "@Test(expectedExceptions = BadInput.class)").error == "BadInput"


@pytest.mark.parametrize(
    "code",
    [
        "assertThrows(Exception.class, () -> f(1));",
        "assertThatThrownBy(() -> f(1)).isInstanceOf(Throwable.class);",
        "try { f(1); fail(); } catch (Exception expected) { }",
        "assertThatThrownBy(() -> f(1));",
    ],
)
def test_any_error_is_partial(code: str) -> None:
    assert asserted(code).strength is PARTLY
    assert asserted("f(1);", "@Test(expected = RuntimeException.class)").strength is PARTLY


def test_what_must_fail_inside_a_demand_for_an_error_is_no_assertion() -> None:
    assert [
        one.error for one in inside("assertThrows(AssertionError.class, () -> assertEquals(1, 2));").assertions
    ] == ["AssertionError"]


def test_the_message_of_an_error_is_asserted_besides_its_type() -> None:
    first, second = inside('assertThatThrownBy(() -> f()).isInstanceOf(B.class).hasMessage("bad");').assertions
    assert (first.error, second.expected, second.strength) == ("B", '"bad"', EXACTLY)
    assert len(inside('assertEquals("bad", assertThrows(B.class, () -> f()).getMessage());').assertions) == 2


def test_a_call_of_a_mock_is_exact_when_its_arguments_are() -> None:
    found = asserted('verify(mail, times(2)).send("a", 3);')
    assert (found.strength, found.about, found.expected) == (EXACTLY, "mail.send", 'times(2) ("a", 3)')


def test_each_expectation_of_a_request_counts() -> None:
    assert (
        len(strengths("mvc.perform(get(x)).andExpect(status().isOk()).andExpect(content().string(y)).andReturn();"))
        == 2
    )
    assert strengths('get(x).then().statusCode(200).body("a", equalTo(3));') == [EXACTLY, EXACTLY]


def test_an_assertion_thrown_by_hand_counts() -> None:
    assert asserted("if (f() != 3) { throw new AssertionError(); }").about == "f() != 3"
    assert strengths("if (f() != 3) fail();") == [PARTLY]
    assert strengths("for (X x : all()) { if (x.isBad()) { throw new IllegalStateException(); } }") == [PARTLY]


def test_a_helper_of_the_class_that_asserts_counts_whatever_its_name() -> None:
    members = "void roundTrip(X x) { assertEquals(x, read(write(x))); } void make(X x) { }"
    assert [one.strength for one in inside("roundTrip(a); make(a);", members=members).assertions] == [PARTLY]


def test_calls_that_only_sound_like_assertions_do_not_count() -> None:
    assert strengths("boolean ok = signature.verify(x); cart.add(1); when(a.b()).thenReturn(1);") == []


def test_a_mock_that_says_what_it_was_told_to_say_is_no_news() -> None:
    assert strengths("when(m.total()).thenReturn(3); assertEquals(3, m.total());") == [NOTHING]
    assert strengths("when(m.total()).thenReturn(3); assertEquals(3, new Cart(m).total());") == [EXACTLY]


# what can not fail


@pytest.mark.parametrize(
    "body",
    [
        "if (true) return; assertEquals(1, f());",
        "if (1 == 1) { return; } assertEquals(1, f());",
        "if (false) { assertEquals(1, f()); }",
        "if (true) { } else { assertEquals(1, f()); }",
        "while (false) { assertEquals(1, f()); }",
        "for (X x : List.of()) { assertEquals(1, f(x)); }",
        "Collections.emptyList().forEach(x -> assertEquals(1, x));",
        "try { assertEquals(1, f()); } catch (Throwable t) { }",
        "try { assertEquals(1, f()); } catch (AssertionError e) { e.printStackTrace(); }",
        "try { assertEquals(1, f()); } catch (Exception e) { }",
        "try { f(); fail(); } catch (Throwable t) { }",
        "Runnable r = () -> assertEquals(1, f());",
        "CompletableFuture.runAsync(() -> assertEquals(1, f()));",
        "System.exit(0); assertEquals(1, f());",
    ],
)
def test_assertions_that_can_not_fail_are_not_listed(body: str) -> None:
    found = inside(body)
    assert (found.assertions, found.unreached) == ((), 1)


@pytest.mark.parametrize(
    "body",
    [
        "if (x) { assertEquals(1, f()); }",
        "try { assertEquals(1, f()); } finally { close(); }",
        "try { assertEquals(1, f()); } catch (IOException e) { }",
        "try { assertEquals(1, f()); } catch (Throwable t) { throw t; }",
        "try { assertEquals(1, f()); } catch (Throwable t) { failures.add(t); }",
        "Runnable r = () -> assertEquals(1, f()); r.run();",
        "CompletableFuture.runAsync(() -> assertEquals(1, f())).join();",
        "for (X x : all()) { assertEquals(1, f(x)); }",
        "list.forEach(x -> { if (x == null) return; g(x); }); assertEquals(1, f());",
        "new Visitor() { void visit() { return; } }.go(); assertEquals(1, f());",
    ],
)
def test_assertions_that_can_fail_are_listed(body: str) -> None:
    found = inside(body)
    assert (len(found.assertions), found.unreached, found.leaves) == (1, 0, None)


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("f(); if (true) return; assertEquals(1, f());", "return"),
        ("if (isWindows()) { return; } assertEquals(1, f());", "if (isWindows()) return"),
        ("assertEquals(1, f()); System.exit(0);", "System.exit(0)"),
        ("Runtime.getRuntime().halt(0);", "Runtime.getRuntime().halt(0)"),
        ("assertEquals(1, f()); return;", None),
        ("assertEquals(1, f());", None),
    ],
)
def test_how_a_test_ends_early(body: str, leaves: str | None) -> None:
    assert inside(body).leaves == leaves


# cases, mocks, limits


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


def test_rows_that_a_test_goes_through_are_cases() -> None:
    assert inside('for (String s : new String[] {"a", "b"}) { assertTrue(f(s)); }').cases == ('"a"', '"b"')
    assert inside("List.of(1, 2).forEach(x -> assertTrue(f(x)));").cases == ("1", "2")
    assert inside("for (X x : all()) { assertTrue(f(x)); }").cases == ()
    body = 'return Stream.of(dynamicTest("one", () -> assertTrue(f())), dynamicTest("two", () -> assertTrue(g())));'
    assert inside(body, "@TestFactory").cases == ('"one"', '"two"')
    assert inside(body, "@TestFactory").leaves is None


def test_what_is_replaced_is_named() -> None:
    body = "Mail m = mock(Mail.class); when(m.send(1)).thenReturn(2); doReturn(3).when(shop).price(any()); Clock c = mock();"
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


# functions


def test_guards_are_what_is_asked_before_it_refuses() -> None:
    code = "int f(String a) { if (a == null) throw new B(); Objects.requireNonNull(a); validateName(a); if (a.isEmpty()) g(); }"
    assert function_of(code).guards == ("a == null", "Objects.requireNonNull(a)", "validateName(a)")
    assert function_of("int f(int a) { if (a > 1) { return 2; } return a; }").guards == ()


def test_errors_are_named_as_thrown() -> None:
    code = "void f() { try { throw new IOException(); } catch (BadInput e) { throw e; } throw failure(1); }"
    assert function_of(code).raises == ("IOException", "BadInput", "failure")
    assert function_of("void f() { g(); }").raises == ()


@pytest.mark.parametrize(
    ("clause", "broad", "silent"),
    [
        ("catch (Exception e) { }", True, True),
        ("catch (Throwable ignored) { // nothing\n }", True, True),
        ("catch (IOException | BadInput e) { return null; }", False, True),
        ("catch (RuntimeException e) { log.warn(e); }", True, False),
        ("catch (IOException e) { return false; }", False, False),
        ("catch (Exception e) { throw new B(e); }", True, False),
    ],
)
def test_handlers_and_what_they_do(clause: str, broad: bool, silent: bool) -> None:
    (found,) = function_of(f"Object f() {{ try {{ g(); }} {clause} }}").handlers
    assert (found.is_broad, found.is_silent) == (broad, silent)


def test_a_function_without_try_has_no_handlers() -> None:
    assert function_of("void f() { g(); }").handlers == ()


@pytest.mark.parametrize(
    "body",
    [
        'throw new UnsupportedOperationException("not implemented");',
        'throw new UnsupportedOperationException("Not yet implemented");',
        "throw new NotImplementedException();",
        'throw new RuntimeException("TODO");',
        "throw new UnsupportedOperationException();",
    ],
)
def test_stubs(body: str) -> None:
    assert function_of(f"int f() {{ {body} }}").stub == body.rstrip(";")


@pytest.mark.parametrize(
    "code",
    [
        "@Override public void f() { throw new UnsupportedOperationException(); }",
        'void f() { throw new UnsupportedOperationException("read only"); }',
        "void f() { }",
        "int f() { if (x) { throw new NotImplementedException(); } return 1; }",
        "int f() { return 1; }",
    ],
)
def test_what_is_no_stub(code: str) -> None:
    assert function_of(code).stub is None


@pytest.mark.parametrize(
    "body",
    [
        "if (a == 1) return 10; if (a == 2) { return 20; } return g(a);",
        "switch (a) { case 1: return 10; case 2: return 20; default: return g(a); }",
        "return switch (a) { case 1 -> 10; case 2 -> 20; default -> g(a); };",
        "return Map.of(1, 10, 2, 20).get(a);",
        "Map<Integer, Integer> t = Map.of(1, 10, 2, 20); return t.getOrDefault(a, 0);",
        "return a == 1 ? 10 : a == 2 ? 20 : g(a);",
    ],
)
def test_answers_looked_up(body: str) -> None:
    assert function_of(f"int f(int a) {{ {body} }}").answers == ("1", "2")


@pytest.mark.parametrize(
    "body",
    [
        "if (a == 1) return g(a); if (b == 2) return 20; return 0;",
        "switch (a) { case 1: return g(a); case 2: b = 3; break; }",
        "if (a == null) return 0; return 1;",
        "return table.get(a);",
        "if (a > 1) return 10; return 20;",
    ],
)
def test_what_is_no_lookup(body: str) -> None:
    assert function_of(f"int f(Integer a) {{ {body} }}").answers == ()


def test_strings_are_answers_as_well_and_inputs_with_one_answer_are_one() -> None:
    code = 'String f(String a) { if ("x".equals(a)) return "1"; switch (a) { case "y", "z": return "2"; } return a; }'
    assert function_of(code).answers == ('"x"', '"y", "z"')


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ('System.getenv("CI") != null', 'System.getenv("CI")'),
        ('Boolean.getBoolean("test.mode")', 'Boolean.getBoolean("test.mode")'),
        ('element.getClassName().startsWith("org.junit.")', 'element.getClassName().startsWith("org.junit.")'),
        ("isRunningTests()", "isRunningTests()"),
        ('email.equals("test@example.com")', 'email.equals("test@example.com")'),
    ],
)
def test_asking_whether_it_is_tested(condition: str, asked: str) -> None:
    assert function_of(f"int f(String email) {{ if ({condition}) {{ return 1; }} return g(); }}").asks_if_tested == (
        asked,
    )


@pytest.mark.parametrize(
    "condition",
    [
        'System.getenv("HOME") != null',
        "path.isTestFile()",
        'name.contains("latest")',
        "latest > 3",
        'text.contains("test")',
        'send("test@example.com")',
    ],
)
def test_ordinary_conditions_ask_nothing_of_tests(condition: str) -> None:
    assert function_of(f"int f(String name) {{ if ({condition}) {{ return 1; }} return g(); }}").asks_if_tested == ()


def test_returning_nothing() -> None:
    code = (
        'Object f() { if (a) return null; if (b) return Optional.empty(); if (c) return ""; return new ArrayList<>(); }'
    )
    assert function_of(code).returns_nothing == 4
    assert function_of("Object f() { return List.of(1); }").returns_nothing == 0


@pytest.mark.parametrize(
    ("code", "always"),
    [
        ("public boolean equals(Object o) { return true; }", True),
        ("public boolean equals(Object o) { if (o == this) { return true; } return true; }", True),
        ("public boolean equals(Object o) { return o instanceof A; }", False),
        ("public boolean equals(Object o) { if (o == this) return true; return false; }", False),
        ("public boolean isReady() { return true; }", False),
        ("public int compareTo(A o) { return 0; }", True),
        ("public int compareTo(A o) { return a - o.a; }", False),
    ],
)
def test_equality_that_does_not_look(code: str, always: bool) -> None:
    assert java.function(facts(f"class A {{ {code} }}").declarations[0]).always_equal is always


def test_what_has_no_body_has_nothing_inside() -> None:
    assert java.function(facts("interface A { int f(int a); }").declarations[0]) == Function()


# files


def test_suppressions() -> None:
    code = '@SuppressWarnings("unchecked") class A { int a; // NOSONAR\n //noinspection Foo\n @SuppressFBWarnings int b; @Test int c; }'
    assert facts(code).suppressions == (
        '@SuppressWarnings("unchecked")',
        "// NOSONAR",
        "//noinspection Foo",
        "@SuppressFBWarnings",
    )
    assert facts("class A { @Override int a; // sonar\n }").suppressions == ()


def test_todos_are_found_in_comments_alone() -> None:
    code = 'class A { // TODO: later\n /* a\n * FIXME this\n */ String s = "TODO"; void todo() {} /** XXX */ int a; }'
    assert facts(code).todos == ("// TODO: later", "* FIXME this", "/** XXX */")


def test_code_in_comments() -> None:
    code = "class A {\n  // @Test\n  // void a() {\n  //   assertEquals(1, f());\n  // }\n  /* int x = f(1); */\n}"
    first, second = facts(code).commented
    assert (first.line, first.lines, first.is_test) == (2, 4, True)
    assert (second.line, second.is_test) == (6, False)


@pytest.mark.parametrize(
    "comment",
    [
        "// This returns the total; see above.",
        "// See foo(bar).",
        '/* Copyright (c) 2020 Somebody.\n * Licensed under X (the "License");\n */',
        "/** <pre>int x = f(1);</pre> */",
        "// a, b; and also c;",
        "// then:",
    ],
)
def test_prose_is_no_code(comment: str) -> None:
    assert facts(f"class A {{\n{comment}\n}}").commented == ()


def test_what_takes_hold_of_a_test_run() -> None:
    assert facts("class A implements ExecutionCondition, B { }").hooks == ("A: ExecutionCondition",)
    assert facts("class A extends BlockJUnit4ClassRunner { }").hooks == ("A: BlockJUnit4ClassRunner",)
    assert facts("class A { void assertEquals(Object a, Object b) { } }").hooks == ("A.assertEquals asserts nothing",)
    assert facts("class A extends B { void assertEquals(X a, X b) { assertSame(a.id, b.id); } }").hooks == ()


def test_ending_the_process_outside_of_functions_or_around_tests() -> None:
    assert facts("class A { static { System.exit(0); } }").exits == ("System.exit(0)",)
    assert facts("class A { @AfterAll static void b() { System.exit(0); } }").exits == ("System.exit(0)",)
    assert facts("class A { public static void main(String[] a) { System.exit(1); } }").exits == ()


def test_flags() -> None:
    code = "class A { static final boolean ON = true; boolean closed = false; static int n = 1; static boolean off = false; }"
    assert facts(code).flags == (("A.ON", True), ("A.off", False))


def test_asking_outside_of_functions() -> None:
    code = 'class A { static final boolean CI = System.getenv("CI") != null; static final String HOME = System.getenv("HOME"); }'
    assert facts(code).asks_if_tested == ('System.getenv("CI")',)


# whatever comes


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
        for one in java.facts(SgRoot(text, "java").root(), "A.java").declarations:
            java.test(one)
            java.function(one)


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
    (only,) = java.facts(root, "A.java").declarations
    java.test(only)
    java.function(only)
