"""What a Java test asserts, and what of that can fail."""

import pytest

from untilproven.guard.facts import Assertion, Declaration, Facts, Strength
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import java
from untilproven.guard.reading import read

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength


def facts(code: str, path: str = "ATest.java") -> Facts:
    return read(path, code.encode())


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
        ("assertTrue(Objects.equals(x, f()));", "f()", "x"),
        ("assertTrue(x.equals(f()));", "f()", "x"),
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
        "then(mock).should().call();",
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
        "assertThat(cart.getTotal()).isEqualTo(cart.getTotal());",
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
        "assertEquals(ids.incrementAndGet(), ids.incrementAndGet());",
    ],
)
def test_making_a_thing_twice_tells_something(code: str) -> None:
    assert NOTHING < strengths(code)[0] < EXACTLY


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


def test_layout_does_not_show_and_neither_does_a_result_that_goes_nowhere() -> None:
    wide = asserted("assertThrows(\n  BadInput.class,\n  () ->\n    f(\n 1));")
    assert wide.text == asserted("assertThrows(BadInput.class, () -> f(1));").text
    assert asserted("try { g(); int unused = f(1); fail(); } catch (BadInput e) { }").about == wide.about


def test_a_helper_of_the_class_that_asserts_counts_whatever_its_name() -> None:
    members = "void roundTrip(X x) { assertEquals(x, read(write(x))); } void make(X x) { }"
    found = inside("roundTrip(a); make(a); roundTrip(b);", members=members).assertions
    assert [one.text for one in found] == ["assertEquals(x, read(write(x)))", "roundTrip(a)", "roundTrip(b)"]
    assert [one.strength for one in found] == [EXACTLY, PARTLY, PARTLY]


def test_moving_assertions_to_a_helper_of_the_class_loses_none() -> None:
    inline = inside("assertEquals(1, f()); assertNull(g());").assertions
    moved = inside("both();", members="void both() { assertEquals(1, f()); assertNull(g()); }").assertions
    assert {one.text for one in inline} <= {one.text for one in moved}


def test_calls_that_only_sound_like_assertions_do_not_count() -> None:
    assert strengths("boolean ok = signature.verify(x); cart.add(1); when(a.b()).thenReturn(1);") == []


def test_a_mock_that_says_what_it_was_told_to_say_is_no_news() -> None:
    assert strengths("when(m.total()).thenReturn(3); assertEquals(3, m.total());") == [NOTHING]
    assert strengths("when(m.total()).thenReturn(3); assertEquals(3, new Cart(m).total());") == [EXACTLY]


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
        "boolean done = true; if (done) { return; } assertEquals(1, f());",
        "boolean on = false; if (on) { assertEquals(1, f()); }",
        "try { assertEquals(1, f()); } finally { return; }",
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
        "boolean ok = false; while (more()) { ok = true; } if (ok) { assertEquals(1, f()); }",
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
        ("try { g(); } catch (Exception e) { return; } assertEquals(1, f());", "catch (Exception) return"),
        ("try { g(); } catch (ClassNotFoundException e) { return; } assertEquals(1, f());", None),
        ("assertEquals(1, f());", None),
    ],
)
def test_how_a_test_ends_early(body: str, leaves: str | None) -> None:
    assert inside(body).leaves == leaves
