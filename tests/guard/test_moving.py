"""Assertions that went from a test: when they are asked elsewhere, and when they only seem to be."""

from untilproven.guard.change import Change
from untilproven.guard.finding import Severity
from untilproven.guard.judging import judge

ORDER = """
def test_order():
    order = place(1)
    assert order.paid
    assert order.total == 3
    assert order.lines == [1, 2]
    assert order.owner == "me"
"""


def worst(before: str, after: str, path: str = "tests/test_cart.py") -> Severity | None:
    findings = judge([Change(path, before.encode(), after.encode())]).findings
    return max((finding.severity for finding in findings), default=None)


def test_a_test_that_is_split_loses_nothing() -> None:
    first = "\ndef test_order():\n    order = place(1)\n    assert order.paid\n"
    new = "\ndef test_lines():\n    order = place(1)\n    assert order.total == 3\n    assert order.lines == [1, 2]\n"
    new += '    assert order.owner == "me"\n'
    before = ORDER.replace("    assert order.total", "    order = place(1)\n    assert order.total")
    assert worst(before, first + new) is Severity.LOW


def test_what_is_asked_of_a_name_of_another_test_is_asked_of_something_else_and_leaves_a_warning() -> None:
    new = "\ndef test_gift():\n    order = give()\n    assert order.total == 3\n    assert order.lines == [1, 2]\n"
    new += '    assert order.owner == "me"\n'
    assert worst(ORDER, "\ndef test_order():\n    order = place(1)\n    assert order.paid\n" + new) is Severity.MEDIUM


def test_a_helper_that_is_given_what_asks_is_no_loss() -> None:
    before = """package a

func TestA(t *testing.T) {
	assert.Equal(t, f(1), 2)
	assert.Equal(t, f(2), 3)
}
"""
    helper = "func run(c *qt.C, x int, wanted int) {\n\tc.Assert(f(x), qt.Equals, wanted)\n}\n"
    after = (
        "package a\n\n" + helper + "\nfunc TestA(t *testing.T) {\n\trun(qt.New(t), 1, 2)\n\trun(qt.New(t), 2, 3)\n}\n"
    )
    assert worst(before, after, "a_test.go") is None
    assert worst(before, after.replace("qt.New(t)", "qt.New(nobody)"), "a_test.go") is Severity.CRITICAL


def test_what_a_crate_says_of_its_features_does_not_decide_about_a_test_that_moves() -> None:
    marks = '#![cfg_attr(feature = "union", feature(untagged_unions))]\n#![no_std]\n'
    test = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"
    before, after = f"{marks}\n#[cfg(test)]\nmod tests {{\n{test}}}\n", f"{marks}\n#[cfg(test)]\nmod tests;\n"
    moved = [Change("src/lib.rs", before.encode(), after.encode()), Change("src/tests.rs", None, test.encode())]
    assert [one for one in judge(moved).findings if one.severity > Severity.LOW] == []


def test_each_new_assertion_stands_for_one_that_went() -> None:
    before = (
        "def test_a():\n    assert f(1) == 1\n    assert g(2)\n\ndef test_b():\n    assert f(1) == 1\n    assert g(2)\n"
    )
    kept = "def test_a():\n    assert g(2)\n\ndef test_b():\n    assert g(2)\n"
    once = kept + "\ndef test_f():\n    assert f(1) == 1\n"
    assert worst(before, once) is Severity.MEDIUM
    assert worst(before, once + "\ndef test_f_again():\n    assert f(1) == 1\n") is Severity.LOW


HELPED = """
class FlagTest {
    @Test
    void testParse() {
        assertEquals(1, Flags.parse("1"));
        testParseFails("");
        testParseFails(" ");
        testParseFails("x");
    }

    void testParseFails(String text) {
        assertThrows(NumberFormatException.class, () -> Flags.parse(text));
    }
}
"""
WITH_CASES = """
class FlagTest {
    @Test
    void testParse() {
        assertEquals(1, Flags.parse("1"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", " ", "x" })
    void testParseFails(String text) {
        assertThrows(NumberFormatException.class, () -> Flags.parse(text));
    }
}
"""


def test_calls_of_a_helper_become_cases_of_a_test() -> None:
    path = "src/test/java/FlagTest.java"
    assert worst(HELPED, WITH_CASES, path) is Severity.LOW
    assert worst(HELPED, WITH_CASES.replace(', "x"', ""), path) is Severity.MEDIUM
    assert worst(HELPED, WITH_CASES.replace('"", " ", "x"', '"1"'), path) is Severity.HIGH


def test_a_helper_that_is_written_out_asked_no_more() -> None:
    before = """
class MapTest {
    @Test
    void testOrder() {
        assertOrder(map.keySet(), "a", "c");
        assertOrder(map.values(), "android", "cola");
    }

    void assertOrder(Collection<String> actual, String... expected) {
        assertThat(new ArrayList<>(actual)).isEqualTo(Arrays.asList(expected));
    }
}
"""
    after = """
class MapTest {
    @Test
    void testOrder() {
        assertThat(map.keySet()).containsExactly("a", "c").inOrder();
        assertThat(map.values()).containsExactly("android", "cola").inOrder();
    }
}
"""
    assert worst(before, after, "src/test/java/MapTest.java") is Severity.LOW
    without = "\n".join(line for line in after.splitlines() if "android" not in line)
    assert (worst(before, without, "src/test/java/MapTest.java") or 0) > Severity.LOW


def test_one_of_two_that_stood_in_a_row_is_none_less() -> None:
    twice = "def test_a():\n    a = f()\n    assert a == 1\n    assert a == 1\n    assert b\n"
    assert worst(twice, twice.replace("    assert a == 1\n", "", 1)) is Severity.LOW
    apart = twice.replace("    assert a == 1\n", "    assert a == 1\n    a.close()\n", 1)
    assert worst(apart, apart.replace("    assert a == 1\n", "", 1)) is Severity.MEDIUM


def test_several_parts_are_asked_for_as_a_whole() -> None:
    before = 'def test_a():\n    text = f()\n    assert "year" in text\n    assert "month" in text\n'
    whole = "def test_a():\n    text = f()\n    assert text == '{year: 1, month: 2}'\n"
    assert worst(before, whole) is Severity.LOW
    assert worst(before, whole.replace(", month: 2", "")) is Severity.MEDIUM


def test_what_is_denied_now_is_not_asked_for() -> None:
    before = "def test_a():\n    assert 'month' in f()\n    assert g() == 2\n    assert h()\n"
    assert worst(before, "def test_a():\n    assert 'month' not in k()\n    assert h()\n") is Severity.MEDIUM


CASES = """
@pytest.mark.parametrize("name", ["content-type", "x-forwarded-for", "accept"])
def test_header(name):
    assert header(name)
"""


def test_cases_that_another_test_has_are_not_lost() -> None:
    fewer = CASES.replace(', "x-forwarded-for"', "")
    assert worst(CASES, fewer) is Severity.HIGH
    assert worst(CASES, fewer + '\ndef test_proxy():\n    assert header("x-forwarded-for") == 2\n') is Severity.LOW
    assert worst(CASES, fewer + '\ndef test_proxy():\n    assert header("x-real-ip") == 2\n') is Severity.HIGH
    copied = CASES.replace("header", "trailer")
    assert worst(CASES, fewer + copied) is Severity.HIGH


ASKED_HERE = """
func TestRuns(t *testing.T) {
	out, err := run(0)
	if out != "" {
		t.Errorf("unexpected: %v", out)
	}
	if err != nil {
		t.Fatal(err)
	}
}
"""
ASKED_BESIDE = """
func succeeds(out string, err error, t *testing.T) {
	if out != "" {
		t.Errorf("unexpected: %v", out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRuns(t *testing.T) {
	out, err := run(0)
	succeeds(out, err, t)
}
"""


def test_what_a_new_function_beside_the_test_asks_is_still_asked() -> None:
    assert worst(ASKED_HERE, ASKED_BESIDE, "run_test.go") is Severity.LOW
    less = ASKED_BESIDE.replace('if out != ""', "if size(out) < 9").replace("if err != nil", "if out > limit")
    assert worst(ASKED_HERE, less, "run_test.go") is Severity.MEDIUM


PARSED = """
def test_parser():
    parser = Parser()
    assert parser.flush() == "stream"
    assert parser.feed("a") == ""
"""


def test_a_few_whose_subject_is_gone_from_the_file_are_no_loss_if_another_is_asked_as_strictly() -> None:
    another = '\ndef test_parser():\n    answer = respond("parser")\n    assert answer.text == "b"\n'
    beside = "\ndef test_beside():\n    parser = Parser()\n    assert parser.feed('b') == parser.flush()\n"
    assert worst(PARSED, another) is Severity.LOW
    assert worst(PARSED + beside, another + beside) is Severity.MEDIUM
    assert worst(PARSED, another.replace("==", "!=")) is Severity.MEDIUM
    three = PARSED + "    assert parser.left == 1\n    assert parser.right == 1\n"
    assert worst(three, another) is Severity.HIGH


def test_what_a_snapshot_holds_is_asked_whatever_else_stands_in_it() -> None:
    test = "test('x', () => {{\n  const r = f();\n{}}});\n"
    before = test.format("  expect(r.code).toBe('too_big');\n  expect(r.at).toBe('begin');\n")
    held = test.format("  expect(r).toMatchInlineSnapshot(`{code: 'too_big', at: 'begin', on: false}`);\n")
    assert worst(before, held, "src/a.test.ts") is Severity.LOW
    assert worst(before, held.replace("code: 'too_big', at: 'begin', ", ""), "src/a.test.ts") is Severity.MEDIUM
