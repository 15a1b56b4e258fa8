"""What is inside a function in Go."""

import pytest
from ast_grep_py import SgRoot

from untilproven.guard.facts import Function
from untilproven.guard.languages import golang


def inside(source: str) -> Function:
    (found,) = golang.facts(SgRoot(f"package p\n{source}\n", "go").root(), "cart.go").declarations
    return golang.function(found)


def body(text: str, signature: str = "f(x int, name string) (int, error)") -> Function:
    return inside(f"func {signature} {{\n{text}\n}}")


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("if x < 0 { return 0, ErrNegative }", ("x < 0",)),
        ('if name == "" { return 0, errors.New("no name") }', ('name == ""',)),
        ('if x > 9 { panic("too many") }', ("x > 9",)),
        ('if !ok { http.Error(w, "no", 403); return }', ("!ok",)),
        ("if _, ok := seen[x]; !ok { return 0, ErrUnknown }", ("_, ok := seen[x]; !ok",)),
        ("if err := validate(x); err != nil { return 0, err }", ("validate(x)",)),
        ("if err != nil { return 0, err }", ()),
        ("if x < 0 { x = 0 }", ()),
        ("if x < 0 { return 0, nil }", ()),
    ],
)
def test_guards_are_conditions_under_which_it_refuses(text: str, guards: tuple[str, ...]) -> None:
    assert body(text).guards == guards


def test_errors_are_raised_where_they_are_made_not_where_they_are_passed_on() -> None:
    text = (
        'if a { return 0, ErrA }\nif b { return 0, fmt.Errorf("no %d", x) }\nif c { return 0, &ParseError{x} }\n'
        'if d { panic("d") }\nif e { return 0, err }\nreturn 0, fmt.Errorf("in f: %w", err)'
    )
    assert body(text).raises == ("ErrA", "fmt.Errorf", "ParseError", "panic")


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("if err != nil { }", True),
        ("if err != nil { return 0, nil }", True),
        ("for { if err != nil { continue } }", True),
        ("if err := g(); err != nil {\n// never mind\n}", True),
        ("_ = err", True),
        ("_ = save(x)", True),
        ("defer func() { recover() }()", True),
        ("if err != nil { return 0, err }", False),
        ("if err != nil { log.Print(err) }", False),
        ("if err != nil { return 1, nil }", False),
    ],
)
def test_a_handler_is_silent_that_does_nothing_with_an_error(text: str, silent: bool) -> None:
    (handler,) = body(text).handlers
    assert (handler.is_silent, handler.is_broad) == (silent, True)


def test_a_call_whose_error_is_dropped_is_the_same_with_other_arguments() -> None:
    was, now = body('_ = flags.Set("help", x)').handlers, body("_ = flags.Set(name, y)").handlers
    assert was == now
    assert was[0].errors == "_ = flags.Set"


@pytest.mark.parametrize(
    "text", ["_ = file.Close()", "v, _ := m[k]", "_ = x", 'before, _ := strings.Cut(name, ":")', "_ = c.Error(err)"]
)
def test_what_has_no_error_to_lose_is_no_handler(text: str) -> None:
    assert body(text).handlers == ()


def test_a_function_without_an_error_to_return_may_say_no() -> None:
    assert not body("if err != nil { return false }\nreturn true", "f() bool").handlers[0].is_silent
    assert body("if err != nil { return }", "f()").handlers[0].is_silent
    assert not body("if err != nil { return }", "f() (err error)").handlers[0].is_silent


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ('panic("not implemented")', 'panic("not implemented")'),
        ('panic("TODO")', 'panic("TODO")'),
        ('return 0, errors.New("not implemented yet")', 'return 0, errors.New("not implemented yet")'),
        ("// TODO: add up\nreturn 0, nil", "return 0, nil"),
        ("// TODO", "{}"),
        ('panic("too many")', None),
        ("return 0, nil", None),
        ("", None),
        ("// TODO: faster\nreturn add(x), nil", None),
    ],
)
def test_a_stub_stands_in_place_of_a_body(text: str, stub: str | None) -> None:
    assert body(text).stub == stub


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("if x == 3 { return 9, nil }\nif x == 4 { return 16, nil }\nreturn x * x, nil", ("3", "4")),
        ('switch name {\ncase "a", "b": return 1, nil\ncase "c": return 2, nil\n}', ('"a"', '"b"', '"c"')),
        ("switch {\ncase x == 3: return 9, nil\n}", ("3",)),
        ('if x == 3 && name == "a" { return 9, nil }', ("3", '"a"')),
        ('return map[string]int{"a": 1, "b": 2}[name], nil', ('"a"', '"b"')),
        ("if x == 3 { return add(x), nil }", ()),
        ("if y == 3 { return 9, nil }", ()),
        ("if x == 0 { return 0, ErrZero }", ()),
        ("switch name {\ncase Red: return 1, nil\n}", ()),
    ],
)
def test_answers_by_heart_are_inputs_with_a_written_result(text: str, answers: tuple[str, ...]) -> None:
    assert body(text).answers == answers


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('if flag.Lookup("test.v") != nil { return 3, nil }', ('flag.Lookup("test.v") != nil',)),
        ("if testing.Testing() { return 3, nil }", ("testing.Testing()",)),
        ('if strings.HasSuffix(os.Args[0], ".test") { return 3, nil }', ('strings.HasSuffix(os.Args[0], ".test")',)),
        ('if os.Getenv("CI") == "true" { return 3, nil }', ('os.Getenv("CI") == "true"',)),
        ('if os.Getenv("CITY") == "" { return 3, nil }', ()),
        ('build("cart.test")', ()),
    ],
)
def test_a_function_that_asks_whether_it_is_tested_is_seen(text: str, asked: tuple[str, ...]) -> None:
    assert body(text).asks_if_tested == asked


def test_returns_of_nothing_are_counted() -> None:
    assert (
        body(
            'if a { return nil, nil }\nif b { return "", nil }\nif c { return []int{}, nil }\nreturn x, nil'
        ).returns_nothing
        == 3
    )


def test_an_equality_that_does_not_look_is_seen() -> None:
    assert inside("func (c Cart) Equal(o Cart) bool { return true }").always_equal
    assert inside("func (c Cart) Compare(o Cart) int { return 0 }").always_equal
    assert not inside("func (c Cart) Equal(o Cart) bool { return c.id == o.id }").always_equal
    assert not inside("func (c Cart) Empty(o Cart) bool { return true }").always_equal
