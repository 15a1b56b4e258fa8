"""What is inside a function in Rust."""

import pytest
from ast_grep_py import SgRoot

from untilproven.guard.facts import Function
from untilproven.guard.languages import rust


def inside(source: str) -> Function:
    (found,) = rust.facts(SgRoot(source, "rust").root(), "src/cart.rs").declarations
    return rust.function(found)


def body(text: str) -> Function:
    return inside(f"fn f(x: u32, name: &str) -> Result<u32, E> {{\n{text}\n}}")


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("if x > 9 { return Err(E::TooMany); }", ("x > 9",)),
        ('if name.is_empty() { panic!("no name"); }', ("name.is_empty()",)),
        ('if x > 9 { bail!("no") }', ("x > 9",)),
        ('ensure!(x < 9, "no");', ("x < 9",)),
        ("assert!(x < 9);", ("x < 9",)),
        ("let Some(y) = get(x) else { return Err(E::None) };", ("let Some(y) = get(x)",)),
        ("validate(name)?;", ("validate(name)",)),
        ("if x > 9 { x = 9; }", ()),
        ("if x > 9 { return Ok(9); }", ()),
        ("let Some(y) = get(x) else { return Ok(0) };", ()),
    ],
)
def test_guards_are_conditions_under_which_it_refuses(text: str, guards: tuple[str, ...]) -> None:
    assert body(text).guards == guards


def test_errors_are_raised_where_they_are_made_not_where_they_are_passed_on() -> None:
    text = (
        "if a { return Err(E::A(x)); }\nlet y = get(x).ok_or(E::B)?;\nif b { panic!() }\n"
        "match g() { Err(e) => Err(e), Never => unreachable!(), _ => Ok(1) }"
    )
    assert body(text).raises == ("E::A", "E::B", "panic!")


@pytest.mark.parametrize(
    ("text", "errors", "broad", "silent"),
    [
        ("match g() { Ok(v) => v, Err(_) => {} }", "", True, True),
        ("match g() { Ok(v) => v, Err(_) => return Ok(()) }", "", True, True),
        ("match g() { Ok(v) => v, Err(e) => { log(e); 0 } }", "", True, False),
        ("match g() { Ok(v) => v, Err(e) => return Err(e) }", "", True, False),
        ("match g() { Ok(v) => v, Err(E::Gone) => {} }", "E::Gone", False, True),
        ("match g() { Ok(v) => v, Err(e) if e.gone() => {} }", "e if e.gone()", False, True),
        ("if let Err(e) = g() {}", "", True, True),
        ('if let Err(e) = g() { warn!("{e}"); }', "", True, False),
        ("let _ = save(x);", "let _ = save", True, True),
        ("let _ = store.save(x).await;", "let _ = store.save", True, True),
        ("save(x).ok();", "save(x).ok();", True, True),
    ],
)
def test_a_handler_is_silent_that_does_nothing_with_an_error(text: str, errors: str, broad: bool, silent: bool) -> None:
    (handler,) = body(text).handlers
    assert (handler.errors, handler.is_broad, handler.is_silent) == (errors, broad, silent)


@pytest.mark.parametrize(
    "text",
    [
        "let _ = tx.send(x);",
        "let _ = x;",
        'let _ = write!(out, "x");',
        "let y = g().ok();",
        "if let Ok(y) = g() { use_it(y); }",
        "let _guard = lock();",
        "let _ = g().unwrap();",
    ],
)
def test_what_has_no_error_to_lose_is_no_handler(text: str) -> None:
    assert body(text).handlers == ()


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ("todo!()", "todo!()"),
        ("unimplemented!()", "unimplemented!()"),
        ('panic!("not implemented")', 'panic!("not implemented")'),
        ('Err("not implemented".into())', 'Err("not implemented".into())'),
        ("// TODO", "{}"),
        ('panic!("too many")', None),
        ("", None),
        ("if x > 9 { todo!() }\nOk(x)", None),
    ],
)
def test_a_stub_stands_in_place_of_a_body(text: str, stub: str | None) -> None:
    assert body(text).stub == stub


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('match name { "a" | "b" => 1, "c" => return 2, _ => compute(x) }', ('"a"', '"b"', '"c"')),
        ("match x { 3 => Ok(9), 4 => Ok(16), _ => Err(E) }", ("3", "4")),
        ("if x == 3 { return Ok(9); }\nOk(x * x)", ("3",)),
        ('match name.trim() { "a" => "x".to_string(), _ => other() }', ('"a"',)),
        ("match x { 3 => nine(), _ => other() }", ()),
        ("match kind { 3 => 9, _ => other() }", ()),
        ("match x { A => 1, B => 2 }", ()),
    ],
)
def test_answers_by_heart_are_inputs_with_a_written_result(text: str, answers: tuple[str, ...]) -> None:
    assert body(text).answers == answers


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("fn f() { if cfg!(test) { return 3; } }", ("cfg!(test)",)),
        ('fn f() { if std::env::var("CI").is_ok() { return 3; } }', ('std::env::var("CI").is_ok()',)),
        (
            'fn f() { if std::env::var("CARGO_MANIFEST_DIR").is_ok() { return 3; } }',
            ('std::env::var("CARGO_MANIFEST_DIR").is_ok()',),
        ),
        ('fn f() { let root = std::env::var("CARGO_MANIFEST_DIR").unwrap(); }', ()),
        ("fn f() { #[cfg(test)] return 3; g() }", ("#[cfg(test)]",)),
        ("#[cfg(not(test))]\nfn f() {}", ("#[cfg(not(test))]",)),
        ("#[cfg(test)]\nfn f() {}", ()),
        ("fn f() { if cfg!(unix) { return 3; } }", ()),
        ('fn f() { std::env::var("CITY"); }', ()),
    ],
)
def test_a_function_that_asks_whether_it_is_tested_is_seen(source: str, asked: tuple[str, ...]) -> None:
    assert inside(source).asks_if_tested == asked


def test_returns_of_nothing_are_counted() -> None:
    assert (
        body("if a { return None; }\nif b { return Ok(None); }\nif c { return Some(1); }\nVec::new()").returns_nothing
        == 3
    )


def test_an_equality_that_does_not_look_is_seen() -> None:
    assert inside("impl PartialEq for A { fn eq(&self, o: &Self) -> bool { true } }").always_equal
    assert inside("impl Ord for A { fn cmp(&self, o: &Self) -> Ordering { Ordering::Equal } }").always_equal
    assert not inside("impl PartialEq for A { fn eq(&self, o: &Self) -> bool { self.a == o.a } }").always_equal
    assert not inside("impl Shop for A { fn eq(&self, o: &Self) -> bool { true } }").always_equal
