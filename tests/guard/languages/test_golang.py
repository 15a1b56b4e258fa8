"""Which tests and functions a file in Go has, and what the file says to tools."""

from textwrap import dedent

import pytest
from ast_grep_py import SgRoot

from guard.languages.whole import read_whole
from untilproven.guard.facts import Facts
from untilproven.guard.languages import golang


def read(source: str, path: str = "cart_test.go") -> Facts:
    return golang.facts(SgRoot(dedent(source), "go").root(), path)


def names_of_tests(source: str, path: str = "cart_test.go") -> list[str]:
    return [one.name for one in read(source, path).declarations if one.is_test]


@pytest.mark.parametrize(
    ("declaration", "name"),
    [
        ("func TestTotal(t *testing.T) {}", "TestTotal"),
        ("func Test(t *testing.T) {}", "Test"),
        ("func Test_total(t *testing.T) {}", "Test_total"),
        ("func FuzzTotal(f *testing.F) {}", "FuzzTotal"),
        ("func (s *CartSuite) TestTotal() {}", "CartSuite.TestTotal"),
        ("func (s *CartSuite) TestTotal(c *check.C) {}", "CartSuite.TestTotal"),
        ("func ExampleTotal() {\n\tfmt.Println(3)\n\t// Output: 3\n}", "ExampleTotal"),
    ],
)
def test_what_go_test_runs_is_a_test(declaration: str, name: str) -> None:
    assert names_of_tests(f"package p\n{declaration}\n") == [name]


@pytest.mark.parametrize(
    "declaration",
    [
        "func Testify(t *testing.T) {}",
        "func TestMain(m *testing.M) { os.Exit(m.Run()) }",
        "func BenchmarkTotal(b *testing.B) {}",
        "func ExampleTotal() { fmt.Println(3) }",
        "func testTotal(t *testing.T) {}",
        "func TestHelper(t *testing.T, want int) {}",
        "func (s *CartSuite) TestTotal() int { return 3 }",
    ],
)
def test_what_go_test_does_not_run_is_none(declaration: str) -> None:
    assert names_of_tests(f"package p\n{declaration}\n") == []


def test_a_test_outside_of_a_test_file_is_none() -> None:
    assert names_of_tests("package p\nfunc TestTotal(t *testing.T) {}\n", "cart.go") == []


def test_functions_and_methods_are_declared_by_their_qualified_names() -> None:
    facts = read(
        """\
        package p
        func New() *Cart { return nil }
        func (c *Cart) Total() int { return 0 }
        func (l List[T]) Len() int { return 0 }
        var handler = func() {}
        var plain = 3
        """,
        "cart.go",
    )
    assert [one.name for one in facts.declarations] == ["New", "Cart.Total", "List.Len", "handler"]
    assert facts.declarations[1].line == 3


def test_subtests_with_a_written_name_are_tests_of_their_own() -> None:
    assert names_of_tests(
        """\
        package p
        func TestCart(t *testing.T) {
            t.Run("empty", func(t *testing.T) {
                t.Run("again", func(t *testing.T) {})
            })
            for _, tt := range tests {
                t.Run(tt.name, func(t *testing.T) {})
            }
        }
        func helper(t *testing.T) { t.Run("of a helper", func(t *testing.T) {}) }
        """
    ) == ["TestCart", "TestCart/empty", "TestCart/empty/again"]


def test_specs_of_ginkgo_are_named_by_what_they_stand_in() -> None:
    assert names_of_tests(
        """\
        package p
        var _ = Describe("cart", func() {
            BeforeEach(func() {})
            Context("empty", func() {
                It("has no total", func() { Expect(1).To(Equal(total())) })
            })
            DescribeTable("adds", func(a int) { Expect(a).To(Equal(total())) }, Entry("one", 1))
        })
        """
    ) == ["cart > empty > has no total", "cart > adds > one"]


def test_the_text_of_a_test_changes_with_the_constraint_of_its_file_and_with_its_table() -> None:
    plain = (
        "package p\nvar rows = []row{{1}, {2}}\nfunc TestA(t *testing.T) { for _, r := range rows { check(t, r) } }\n"
    )
    texts = {
        read(source).declarations[0].text
        for source in (plain, f"//go:build ignore\n\n{plain}", plain.replace("{1}, {2}", "{1}"))
    }
    assert len(texts) == 3


def test_linters_that_are_silenced_are_named() -> None:
    facts = read(
        """\
        package p
        func f() {
            g() //nolint:errcheck
            h() // #nosec G104
            //lint:ignore SA1019 old
            i() // no lint here
        }
        """
    )
    assert facts.suppressions == ("//nolint:errcheck", "// #nosec G104", "//lint:ignore SA1019 old")


def test_todos_are_words_of_their_own() -> None:
    facts = read("package p\n// TODO: later\n// FIXME now\n// a todo list, TODOS\nvar x = 1\n")
    assert facts.todos == ("// TODO: later", "// FIXME now")


def test_code_in_comments_is_found_and_prose_is_not() -> None:
    facts = read(
        """\
        // Package p adds up carts. Call New(items) to begin.
        //
        //	cart := New(items)
        //	cart.Total()
        package p

        // func TestOld(t *testing.T) {
        // 	assert.Equal(t, 3, total())
        // }

        func f() {
            // total := add(1, 2)
            // check(total)
            // this returns the total (or nothing)
            // see total()
            g()
        }
        """
    )
    assert [(one.line, one.lines, one.is_test) for one in facts.commented] == [(12, 2, False), (7, 3, True)]


def test_whatever_takes_hold_of_the_run_is_a_hook() -> None:
    facts = read(
        """\
        package p
        func TestMain(m *testing.M) { os.Exit(m.Run()) }
        func init() { flag.Set("test.run", "^$") }
        var _ = BeforeSuite(func() {})
        """
    )
    assert facts.hooks == ("func TestMain(m *testing.M)", "func init()", "BeforeSuite")
    assert read("package p\nfunc init() { SetMode(TestMode) }\n").hooks == ()
    assert read("package p\nfunc TestMain(m *testing.M) { m.Run() }\n", "main.go").hooks == ()


@pytest.mark.parametrize(
    ("body", "exits"),
    [
        ("os.Exit(m.Run())", ()),
        ("code := m.Run()\nos.Exit(code)", ()),
        ("goleak.VerifyTestMain(m)", ()),
        ("if err := setup(); err != nil { os.Exit(1) }\nm.Run()", ()),
        ("m.Run()\nos.Exit(0)", ("os.Exit(0)",)),
        ("setup()", ("TestMain without m.Run()",)),
    ],
)
def test_a_main_that_ends_the_run_as_passed_is_seen(body: str, exits: tuple[str, ...]) -> None:
    assert read(f"package p\nfunc TestMain(m *testing.M) {{\n{body}\n}}\n").exits == exits


def test_an_exit_while_loading_is_seen() -> None:
    assert read("package p\nfunc init() { os.Exit(0) }\n", "cart.go").exits == ("os.Exit(0)",)
    assert read("package p\nfunc main() { os.Exit(0) }\n", "cart.go").exits == ()


def test_flags_are_names_set_to_a_boolean_at_the_top() -> None:
    facts = read("package p\nvar Strict = true\nconst (\n\tFast = false\n\tN = 3\n)\nfunc f() { ok := true }\n", "c.go")
    assert facts.flags == (("Strict", True), ("Fast", False))


def test_a_question_about_tests_at_the_top_is_seen() -> None:
    asked = "package p\nvar inTest = testing.Testing()\n"
    assert read(asked, "cart.go").asks_if_tested == ("testing.Testing()",)
    assert read(asked, "cart_test.go").asks_if_tested == ()


@pytest.mark.parametrize(
    "source", ["", "package", "func (", "package p\nfunc TestA(t *testing.T", "é\r\n\t{{{", "}" * 300]
)
def test_broken_files_are_read_as_far_as_they_go(source: str) -> None:
    read_whole(golang.facts(SgRoot(source, "go").root(), "x_test.go"), golang)


def test_deep_nesting_is_survived() -> None:
    deep = "!" * 3000
    facts = read(f"package p\nfunc TestA(t *testing.T) {{\n\tif {deep}ok {{\n\t\tt.Error()\n\t}}\n}}\n")
    assert len(golang.test(facts.declarations[0]).assertions) == 1
