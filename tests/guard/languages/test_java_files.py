"""What a Java file says to tools, and does to a test run."""

import pytest

from untilproven.guard.facts import Facts
from untilproven.guard.reading import read


def facts(code: str, path: str = "ATest.java") -> Facts:
    return read(path, code.encode())


def test_suppressions() -> None:
    code = '@SuppressWarnings("x") class A { int a; // NOSONAR\n //noinspection Foo\n @SuppressFBWarnings int b; }'
    assert facts(code).suppressions == (
        '@SuppressWarnings("x")',
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
    code = "class A { static final boolean ON = true; boolean open = false; int n = 1; static boolean off = false; }"
    assert facts(code).flags == (("A.ON", True), ("A.off", False))


def test_asking_outside_of_functions() -> None:
    code = 'class A { static boolean ci = System.getenv("CI") != null; static String home = System.getenv("HOME"); }'
    assert facts(code).asks_if_tested == ('System.getenv("CI")',)
