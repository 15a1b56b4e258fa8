"""What is inside a test in Rust."""

from textwrap import indent

import pytest
from ast_grep_py import SgRoot

from untilproven.guard import facts
from untilproven.guard.facts import Assertion, Running, Strength
from untilproven.guard.languages import rust

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength
NEVER, SOMETIMES, ALWAYS = Running


def inside(body: str, *, attributes: str = "#[test]", before: str = "") -> facts.Test:
    source = f"{before}\n{attributes}\nfn adds() {{\n{indent(body, '    ')}\n}}\n"
    found = rust.facts(SgRoot(source, "rust").root(), "tests/cart.rs").declarations
    return rust.test(next(one for one in found if one.is_test))


def only(body: str) -> Assertion:
    (assertion,) = inside(body).assertions
    return assertion


@pytest.mark.parametrize(
    ("body", "strength", "about", "expected"),
    [
        ("assert_eq!(total(1, 2), 3);", EXACTLY, "total(1, 2)", "3"),
        ("assert_eq!(3, total(1, 2));", EXACTLY, "total(1, 2)", "3"),
        ("assert_eq!(got, expected);", EXACTLY, "got", "expected"),
        ('assert_eq!(expected, got, "of {}", name);', EXACTLY, "got", "expected"),
        ("assert_eq!(map::<A, B>(x), 3);", EXACTLY, "map::<A, B>(x)", "3"),
        ("debug_assert_eq!(got, 3);", EXACTLY, "got", "3"),
        ("prop_assert_eq!(got, 3);", EXACTLY, "got", "3"),
        ("eqnice!(expected, cmd.stdout());", EXACTLY, "cmd.stdout()", "expected"),
        ("assert_eq!(got.len(), 3);", PARTLY, "got.len()", "3"),
        ("assert_eq!(ok, true);", SOMETHING, "ok", "true"),
        ("assert_ne!(got, 3);", SOMETHING, "got", None),
        ("assert!(got == 3);", EXACTLY, "got", "3"),
        ("assert!(!(got != 3));", EXACTLY, "got", "3"),
        ("assert!(ok);", SOMETHING, "ok", None),
        ("assert!(got > 3);", PARTLY, "got", "3"),
        ('assert!(got.contains("x"));', PARTLY, "got", '"x"'),
        ("assert!(got.is_ok());", SOMETHING, "got", None),
        ("assert!(got.is_none());", EXACTLY, "got", "None"),
        ('assert!(got.is_empty(), "{got:?}");', PARTLY, "got", None),
        ("assert!(matches!(got, Kind::A(3)));", EXACTLY, "got", "Kind::A(3)"),
        ("assert_matches!(got, Kind::A(_));", PARTLY, "got", "Kind::A(_)"),
        ("assert_matches!(got, Ok(_));", SOMETHING, "got", "Ok(_)"),
        ('insta::assert_snapshot!(got, @"three");', EXACTLY, "got", '"three"'),
        ("assert_debug_snapshot!(got);", EXACTLY, "got", None),
        ("assert_that!(got, eq(3));", EXACTLY, "got", "3"),
        ("assert_that!(got, contains(3));", PARTLY, "got", "contains(3)"),
        ("assert_ok!(got);", SOMETHING, "got", None),
        ("assert_tokens(&got, &[Token::Unit]);", PARTLY, "&got, &[Token::Unit]", None),
        ("cmd.assert().success();", PARTLY, "cmd", None),
        ('expect![["x"]].assert_eq(&got);', EXACTLY, "&got", 'expect![["x"]]'),
        ('if got != 3 { panic!("no"); }', EXACTLY, "got", "3"),
        ('match got { 3 => (), _ => panic!("no") }', PARTLY, '"no"', None),
        ("assert!(!got.is_empty());", SOMETHING, "got", None),
        ("assert!(got.is_empty());", PARTLY, "got", None),
        ("tokio::select! { x = rx => { assert_eq!(x, 3); } }", EXACTLY, "x", "3"),
        ("test_total(1, 2);", PARTLY, "1, 2", None),
        ("is_send::<Cart>();", SOMETHING, "is_send::<Cart>()", None),
    ],
)
def test_assertions_have_a_strength_and_a_subject(
    body: str, strength: Strength, about: str, expected: str | None
) -> None:
    found = only(body)
    assert (found.strength, found.about, found.expected) == (strength, about, expected)


@pytest.mark.parametrize(
    ("body", "strength", "error"),
    [
        ("assert!(got.is_err());", PARTLY, "Err"),
        ("assert!(!got.is_ok());", PARTLY, "Err"),
        ("got.unwrap_err();", PARTLY, "Err"),
        ("assert_err!(got);", PARTLY, "Err"),
        ("assert_eq!(got, Err(CartError::Empty));", EXACTLY, "CartError::Empty"),
        ("assert!(matches!(got, Err(CartError::Empty)));", EXACTLY, "CartError::Empty"),
    ],
)
def test_assertions_name_the_error_they_expect(body: str, strength: Strength, error: str) -> None:
    found = only(body)
    assert (found.strength, found.error) == (strength, error)


@pytest.mark.parametrize(
    "body",
    [
        "assert!((got - 3.0).abs() < 0.01);",
        "assert_relative_eq!(got, 3.0, epsilon = 0.01);",
        "assert_approx_eq!(got, 3.0, 0.01f64);",
    ],
)
def test_assertions_say_how_far_off_is_right(body: str) -> None:
    found = only(body)
    assert (found.strength, found.about, found.expected, found.tolerance) == (PARTLY, "got", "3.0", 0.01)


@pytest.mark.parametrize(
    "body",
    [
        "assert!(true);",
        'assert!(true, "reached");',
        "assert_eq!(1, 1);",
        "assert_eq!(got, got);",
        "assert!(got == got);",
        "assert!(ok || true);",
        "assert!(ok || !ok);",
        "assert!(got.is_ok() || got.is_err());",
        "assert!(got.len() >= 0);",
        "assert!(matches!(got, _));",
        "assert_ne!(1, 2);",
        "assert!([].iter().all(f) || true);",
    ],
)
def test_what_always_holds_says_nothing(body: str) -> None:
    assert only(body).strength is NOTHING


def test_unwraps_count_where_nothing_better_is_said() -> None:
    assert [one.strength for one in inside("cart.add(3).unwrap();\nsave(cart)?;").assertions] == [SOMETHING, SOMETHING]
    found = inside('cart.add(3).expect("adds");\nassert_eq!(cart.total(), 3);').assertions
    assert [one.text for one in found] == ["assert_eq!(cart.total(), 3)"]


@pytest.mark.parametrize(
    "body", ["cart.add(3);", 'println!("{}", x);', "let x = vec![assert];", "let t = cart.total();"]
)
def test_other_calls_are_no_assertions(body: str) -> None:
    assert inside(body).assertions == ()


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("return;\nassert_eq!(total(), 3);", "return"),
        ("if true { return; }\nassert_eq!(total(), 3);", "if true"),
        ("return;\nfn inner() { assert_eq!(total(), 3); }\ninner();", "return"),
        ("std::process::exit(0);\nassert_eq!(total(), 3);", "std::process::exit(0)"),
        ("if false { assert_eq!(total(), 3); }", "if false"),
        ("let _ = std::panic::catch_unwind(|| { assert_eq!(total(), 3); });", None),
        ("let _ = || { assert_eq!(total(), 3); };", None),
        ("async { assert_eq!(total(), 3); };", None),
        ("tokio::spawn(async { assert_eq!(total(), 3); });", None),
    ],
)
def test_assertions_that_can_not_fail_are_counted_but_not_listed(body: str, leaves: str | None) -> None:
    found = inside(body)
    assert (found.assertions, found.unreached, found.leaves) == ((), 1, leaves)


@pytest.mark.parametrize(
    "body",
    [
        "let f = || { return 1; };\nif x { return; }\nassert_eq!(total(), 3);",
        "thread::spawn(|| { assert_eq!(total(), 3); }).join().unwrap();",
        "tokio::spawn(async { assert_eq!(total(), 3); }).await.unwrap();",
        "task::spawn(()).enter(|cx| { assert_eq!(total(), 3); });",
        "if cfg!(unix) { assert_eq!(total(), 3); }",
        "inner();\nreturn;\nfn inner() { assert_eq!(total(), 3); }",
    ],
)
def test_assertions_that_can_fail_are_listed(body: str) -> None:
    found = inside(body)
    assert (len(found.assertions), found.unreached) == (1, 0)


def test_a_test_that_is_to_panic_can_not_fail_by_its_assertions() -> None:
    found = inside("assert_eq!(total(), 3);", attributes="#[test]\n#[should_panic]")
    assert [(one.strength, one.error) for one in found.assertions] == [(PARTLY, "panic")]
    assert found.unreached == 1
    (exact,) = inside("total();", attributes='#[test]\n#[should_panic(expected = "empty")]').assertions
    assert (exact.strength, exact.expected) == (EXACTLY, '"empty"')


@pytest.mark.parametrize(
    ("expected", "unreached"),
    [("empty", 0), ("", 1), ("assertion", 1), ("assertion failed: total() > 3", 1), ("right", 1), ("too few", 1)],
)
def test_an_assertion_fails_a_test_that_is_to_panic_with_other_words(expected: str, unreached: int) -> None:
    attributes = f'#[test]\n#[should_panic(expected = "{expected}")]'
    found = inside('assert!(total() > 3, "too few");', attributes=attributes)
    assert (len(found.assertions), found.unreached) == (2 - unreached, unreached)


@pytest.mark.parametrize(
    ("attributes", "running", "reason"),
    [
        ("#[test]", ALWAYS, None),
        ("#[test]\n#[ignore]", NEVER, "ignore"),
        ('#[test]\n#[ignore = "slow"]', NEVER, "slow"),
        ("#[cfg(test)]\n#[test]", ALWAYS, None),
        ("#[cfg(any())]\n#[test]", NEVER, "#[cfg(any())]"),
        ("#[cfg(not(test))]\n#[test]", NEVER, "#[cfg(not(test))]"),
        ("#[cfg(never)]\n#[test]", NEVER, "#[cfg(never)]"),
        ("#[cfg(not(loom))]\n#[test]", ALWAYS, None),
        ("#[cfg(loom)]\n#[test]", SOMETIMES, "#[cfg(loom)]"),
        ("#[cfg(all(loom, any()))]\n#[test]", NEVER, "#[cfg(all(loom, any()))]"),
        ("#[cfg(tokio_unstable)]\n#[test]", SOMETIMES, "#[cfg(tokio_unstable)]"),
        ("#[cfg(unix)]\n#[test]", SOMETIMES, "#[cfg(unix)]"),
        ("#[cfg(all(unix, not(unix)))]\n#[test]", NEVER, "#[cfg(all(unix, not(unix)))]"),
        ('#[cfg(feature = "full")]\n#[test]', SOMETIMES, '#[cfg(feature = "full")]'),
        ("#[test]\n#[cfg_attr(miri, ignore)]", SOMETIMES, "#[cfg_attr(miri, ignore)]"),
        ("#[test]\n#[cfg_attr(all(), ignore)]", NEVER, "#[cfg_attr(all(), ignore)]"),
        ("#[test]\n#[cfg_attr(never, ignore)]", ALWAYS, None),
    ],
)
def test_attributes_decide_whether_it_runs(attributes: str, running: Running, reason: str | None) -> None:
    found = inside("assert!(ok);", attributes=attributes)
    assert (found.running, found.reason) == (running, reason)


@pytest.mark.parametrize(
    ("body", "running"),
    [
        ("if cfg!(windows) { return; }", SOMETIMES),
        ('if std::env::var("DOCKER").is_err() { eprintln!("no"); return; }', SOMETIMES),
        ("if true { return; }", NEVER),
        ("if done { return; }", ALWAYS),
    ],
)
def test_leaving_at_once_is_skipping(body: str, running: Running) -> None:
    assert inside(f"{body}\nassert!(ok);").running is running


def test_a_whole_module_or_file_is_left_out_of_the_build() -> None:
    source = "#[cfg(never)]\nmod m {\n    #[test]\n    fn a() { assert!(ok); }\n}\n"
    (found,) = rust.facts(SgRoot(source, "rust").root(), "src/a.rs").declarations
    assert rust.test(found).running is NEVER
    assert inside("assert!(ok);", before="#![cfg(never)]").running is NEVER


def example(fence: str) -> facts.Test:
    source = f"/// ```{fence}\n/// assert_eq!(add(1, 2), 3);\n/// ```\nfn add() {{}}\n"
    found = rust.facts(SgRoot(source, "rust").root(), "src/a.rs").declarations
    return rust.test(next(one for one in found if one.is_test))


def test_examples_run_as_their_fence_says() -> None:
    assert (example("").running, example("rust").running) == (ALWAYS, ALWAYS)
    assert (example("ignore").running, example("no_run").running) == (NEVER, SOMETIMES)
    assert example("ignore-wasm").running is SOMETIMES
    assert [one.strength for one in example("").assertions] == [EXACTLY]
    panics = example("should_panic")
    assert ([one.error for one in panics.assertions], panics.unreached) == (["should_panic"], 1)


def test_cases_are_taken_from_attributes_values_and_tables() -> None:
    assert inside("assert!(ok);", attributes="#[rstest]\n#[case(1, 2)]\n#[case::two(3, 4)]").cases == (
        "#[case(1, 2)]",
        "#[case::two(3, 4)]",
    )
    assert inside("assert!(ok);", attributes='#[test_case(1 => 2; "one")]').cases == ('#[test_case(1 => 2; "one")]',)
    assert inside("for (a, b) in [(1, 2), (3, 4)] { assert_eq!(a, b); }").cases == ("(1, 2)", "(3, 4)")
    assert inside("let rows = vec![(1, 2), (3, 4)];\nfor r in rows.iter() { f(r); }").cases == ("(1, 2)", "(3, 4)")
    assert inside("let rows = [1, 2];\nf(rows);").cases == ()


def test_a_test_made_by_a_macro_asserts_what_the_macro_does() -> None:
    source = (
        "macro_rules! adds { ($n:ident, $a:expr) => { #[test] fn $n() { assert_eq!($a, 3); } } }\nadds!(one, 1 + 2);\n"
    )
    (found,) = rust.facts(SgRoot(source, "rust").root(), "tests/a.rs").declarations
    inner = rust.test(found)
    assert [(one.strength, one.about) for one in inner.assertions] == [(EXACTLY, "$a")]
    assert inner.cases == ("adds!(one, 1 + 2)",)


def test_the_body_that_a_test_macro_is_given_is_looked_into() -> None:
    source = 'rgtest!(basic, |dir: Dir, mut cmd: Cmd| {\n    return;\n    eqnice!("x", cmd.stdout());\n});\n'
    (found,) = rust.facts(SgRoot(source, "rust").root(), "tests/a.rs").declarations
    inner = rust.test(found)
    assert (inner.assertions, inner.unreached, inner.leaves) == ((), 1, "return")


def test_what_is_replaced_is_named() -> None:
    assert inside("let mut mock = MockStore::new();\nmock.expect_get().returning(|_| 3);").mocks == (
        "MockStore",
        "mock.get",
    )
    assert inside("let store = Store::new();\nstore.expect_err();").mocks == ()


def test_timeouts_are_in_seconds() -> None:
    assert inside("f();", attributes="#[rstest]\n#[timeout(Duration::from_secs(5))]").timeout == 5.0
    assert inside("f();", attributes="#[ntest::timeout(500)]\n#[test]").timeout == 0.5
    assert inside("f();").timeout is None


def test_retries_are_counted() -> None:
    assert inside("f();", attributes="#[flaky_test(times = 5)]").retries == 5
    assert inside("f();").retries is None
