"""Which tests and functions a file in Rust has, and what the file says to tools."""

from textwrap import dedent

import pytest
from ast_grep_py import SgRoot

from guard.languages.whole import read_whole
from untilproven.guard.facts import Facts
from untilproven.guard.languages import rust


def read(source: str, path: str = "src/cart.rs") -> Facts:
    return rust.facts(SgRoot(dedent(source), "rust").root(), path)


def names_of_tests(source: str) -> list[str]:
    return [one.name for one in read(source).declarations if one.is_test]


@pytest.mark.parametrize(
    "attributes",
    [
        "#[test]",
        "#[tokio::test]",
        '#[tokio::test(flavor = "multi_thread")]',
        "#[rstest]\n#[case(1)]",
        '#[test_case(1; "one")]',
        "#[quickcheck]",
        "#[wasm_bindgen_test]",
        "#[sqlx::test]",
        "#[cfg_attr(not(miri), test)]",
        "#[ignore]\n#[test]",
    ],
)
def test_attributes_make_a_test(attributes: str) -> None:
    assert names_of_tests(f"{attributes}\nfn adds() {{}}\n") == ["adds"]


@pytest.mark.parametrize(
    "attributes", ["", "#[cfg(test)]", "#[bench]", "#[inline]", "#[cfg_attr(test, allow(dead_code))]"]
)
def test_others_make_none(attributes: str) -> None:
    assert names_of_tests(f"{attributes}\nfn adds() {{}}\n") == []


def test_names_are_qualified_by_modules_types_and_traits() -> None:
    facts = read(
        """\
        fn new() {}
        impl<T> Cart<T> { fn total(&self) -> u32 { 0 } }
        impl fmt::Display for Cart { fn fmt(&self) {} }
        trait Shop { fn open(&self) {} fn close(&self); }
        mod a { mod b { fn c() {} } }
        """
    )
    assert sorted(one.name for one in facts.declarations) == [
        "<Cart as fmt::Display>::fmt",
        "Cart::total",
        "Shop::open",
        "a::b::c",
        "new",
    ]


def test_functions_in_macros_that_hold_items_are_found_on_their_lines() -> None:
    facts = read("cfg_rt! {\n    #[test]\n    fn runs() {}\n    impl Cart {\n        fn total(&self) {}\n    }\n}\n")
    assert [(one.name, one.is_test, one.line) for one in facts.declarations] == [
        ("runs", True, 3),
        ("Cart::total", False, 5),
    ]


def test_properties_are_tests() -> None:
    assert names_of_tests(
        """\
        proptest! {
            #[test]
            fn sums(a in 0..9, b in 0..9) { prop_assert!(a + b < 18); }
            fn helper(a in 0..9) { }
        }
        quickcheck! { fn reverses(xs: Vec<u8>) -> bool { xs == xs } }
        """
    ) == ["sums", "reverses"]


def test_macros_that_make_tests_are_tests() -> None:
    assert names_of_tests(
        """\
        rgtest!(basic, |dir: Dir, mut cmd: Cmd| { eqnice!("x", cmd.stdout()); });
        test_data!(no_assertion, "x");
        macro_rules! adds { ($name:ident, $a:expr) => { #[test] fn $name() { assert_eq!($a, 3); } } }
        adds!(one, 1);
        mod more { adds!(two, 2); }
        println!("no");
        """
    ) == ["basic", "one", "more::two"]


def test_examples_with_assertions_are_tests_of_what_they_document() -> None:
    source = """\
        //! ```
        //! assert!(cart::works());
        //! ```

        /// Adds.
        ///
        /// ```
        /// # use cart::add;
        /// assert_eq!(add(1, 2), 3);
        /// ```
        ///
        /// ```text
        /// assert_eq!(1, 1)
        /// ```
        ///
        /// ```should_panic
        /// add(-1, 2);
        /// ```
        fn add() {}

        /// ```
        /// shown();
        /// ```
        struct Shown;
        """
    found = {one.name: one for one in read(source).declarations if one.is_test}
    assert sorted(found) == ["add::doctest add 1 2", "add::doctest use cart add", "doctest"]
    assert rust.test(found["add::doctest use cart add"]).assertions[0].line == 9


def test_an_example_stays_what_it_is_when_others_come_before_it() -> None:
    one, other = (f"/// ```\n/// assert!({name}());\n/// ```\n" for name in "ab")
    names = [each.name for each in read(f"{other}{one}{one}fn f() {{}}").declarations if each.is_test]
    assert names == ["f::doctest assert b", "f::doctest assert a", "f::doctest assert a 2"]
    assert [each.name for each in read(f"{one}{other}fn f() {{}}").declarations if each.is_test] == [names[1], names[0]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("#[test]\nfn a() {}", "#[test]\n#[ignore]\nfn a() {}"),
        ("mod m { #[test] fn a() {} }", "#[cfg(never)] mod m { #[test] fn a() {} }"),
        ("#[test]\nfn a() {}", "#![cfg(never)]\n#[test]\nfn a() {}"),
        ("/// ```\n/// assert!(x);\n/// ```\nstruct A;", "/// ```ignore\n/// assert!(x);\n/// ```\nstruct A;"),
    ],
)
def test_marks_outside_of_a_test_are_part_of_its_text(one: str, other: str) -> None:
    assert read(one).declarations[0].text != read(other).declarations[0].text


def test_lints_that_are_silenced_are_named() -> None:
    facts = read(
        """\
        #![allow(dead_code)]
        #[expect(unused)]
        #[cfg_attr(test, allow(clippy::all))]
        #[deny(warnings)]
        #[inline]
        fn f() { #[allow(unused_variables)] let x = 1; }
        """
    )
    assert facts.suppressions == (
        "#![allow(dead_code)]",
        "#[expect(unused)]",
        "#[cfg_attr(test, allow(clippy::all))]",
        "#[allow(unused_variables)]",
    )


def test_todos_are_words_of_their_own() -> None:
    assert read("// TODO: later\n/// XXX\n// todos\nfn f() { todo!() }\n").todos == ("// TODO: later", "/// XXX")


def test_code_in_comments_is_found_and_prose_is_not() -> None:
    facts = read(
        """\
        // #[test]
        // fn adds() {
        //     assert_eq!(add(1, 2), 3);
        // }

        // Adds up: see add() and total().
        //
        //     let shown = example();
        fn f() {
            // let total = add(1, 2);
            /* check(total); */
            // #[serde(rename = "x")]
            // we return (x)
            g();
        }
        /// let documented = 1;
        fn h() {}
        """
    )
    found = [(one.line, one.lines, one.is_test) for one in facts.commented]
    assert sorted(found) == [(1, 4, True), (10, 1, False), (11, 1, False)]


def test_whatever_takes_hold_of_the_run_is_a_hook() -> None:
    facts = read(
        """\
        #![test_runner(mine)]
        #[ctor::ctor]
        fn before() { std::process::exit(0) }
        macro_rules! assert_eq { ($a:expr, $b:expr) => {} }
        macro_rules! check { ($a:expr) => {} }
        """
    )
    assert facts.hooks == ("#![test_runner(mine)]", "before", "macro_rules! assert_eq")
    assert facts.exits == ("std::process::exit(0)",)


def test_exits_count_in_what_tests_load() -> None:
    helper = "fn helper() { std::process::exit(0); }\n"
    assert read(helper, "tests/common.rs").exits == ("std::process::exit(0)",)
    assert read(f"#[cfg(test)] mod tests {{ {helper} }}").exits == ("std::process::exit(0)",)
    assert read(helper, "src/cart.rs").exits == ()
    assert read("fn main() { std::process::exit(0); }", "tests/run.rs").exits == ()
    assert read("fn fails() { std::process::exit(1); }", "tests/run.rs").exits == ()


def test_flags_are_constants_that_are_true_or_false() -> None:
    facts = read("const STRICT: bool = true;\nstatic FAST: bool = false;\nconst N: u8 = 3;\n")
    assert facts.flags == (("STRICT", True), ("FAST", False))


def test_a_question_about_tests_at_the_top_is_seen() -> None:
    assert read("const LIMIT: u8 = if cfg!(test) { 1 } else { 9 };\n").asks_if_tested == ("cfg!(test)",)
    assert read("const LIMIT: u8 = if cfg!(unix) { 1 } else { 9 };\n").asks_if_tested == ()


BROKEN = [
    "",
    "fn",
    "#[test",
    "#[test]\nfn a(",
    "é\r\n\t{{{",
    "}" * 300,
    "#[cfg(all(any(]\n#[test]\nfn a() {}",
    "proptest! {",
]


@pytest.mark.parametrize("source", [*BROKEN, "#[cfg_attr()]\n#[test]\nfn a() {}", "t_test!();", "/// ```\nfn a() {}"])
def test_broken_files_are_read_as_far_as_they_go(source: str) -> None:
    read_whole(rust.facts(SgRoot(source, "rust").root(), "tests/x.rs"), rust)


def test_deep_nesting_is_survived() -> None:
    facts = read(f"#[test]\nfn a() {{ assert!({'!' * 3000}ok); }}\n")
    assert len(rust.test(facts.declarations[0]).assertions) == 1
    assert read("mod a { " * 200 + "fn f() {}" + " }" * 200).declarations == ()
