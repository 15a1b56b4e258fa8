"""What is inside a Java function."""

import pytest

from untilproven.guard.facts import Declaration, Facts, Function
from untilproven.guard.languages import java
from untilproven.guard.reading import read


def facts(code: str, path: str = "ATest.java") -> Facts:
    return read(path, code.encode())


def declared(code: str, name: str) -> Declaration:
    return next(one for one in facts(code).declarations if one.name == name)


def function_of(code: str, name: str = "A.f") -> Function:
    return java.function(declared(f"class A {{ {code} }}", name))


def test_guards_are_what_is_asked_before_it_refuses() -> None:
    code = (
        "int f(X a) { if (a == null) throw new B(); Objects.requireNonNull(a); validateName(a); if (a.isEmpty()) g(); }"
    )
    assert function_of(code).guards == ("a == null", "Objects.requireNonNull(a)", "validateName(a)")
    assert function_of("int f(int a) { if (a > 1) { return 2; } return a; }").guards == ()
    assert function_of("boolean f(A a) { return Objects.equal(x, a.x); }").guards == ()


def test_errors_are_named_as_thrown() -> None:
    code = "void f() { try { throw new IOException(); } catch (BadInput e) { throw e; } throw failure(1); }"
    assert function_of(code).raises == ("IOException", "BadInput", "Throwable")
    assert function_of("Supplier f() { return () -> { throw new BadInput(); }; }").raises == ()
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


def test_a_stub_in_a_class_without_a_name_is_one_of_the_function_that_makes_it() -> None:
    code = "Adapter f() { return new Adapter() { @Override int read() { throw new NotImplementedException(); } }; }"
    assert function_of(code).stub == "throw new NotImplementedException()"


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


_EVERYTHING = (
    *("guards", "raises", "handlers", "stub", "left_open", "answers", "asks_if_tested", "returns_nothing"),
    "always_equal",
)


def test_what_has_no_body_has_nothing_inside() -> None:
    inside = java.function(facts("interface A { int f(int a); }").declarations[0])
    assert [getattr(inside, name) for name in _EVERYTHING] == [(), (), (), None, None, (), (), 0, False]
