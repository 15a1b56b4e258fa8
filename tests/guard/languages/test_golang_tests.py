"""What is inside a test in Go."""

from textwrap import indent

import pytest
from ast_grep_py import SgRoot

from untilproven.guard import facts
from untilproven.guard.facts import Assertion, Running, Strength
from untilproven.guard.languages import golang

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength
NEVER, SOMETIMES, ALWAYS = Running


def inside(body: str, *, before: str = "", path: str = "cart_test.go", name: str = "TestCart") -> facts.Test:
    source = f"{before}package p\n\nfunc TestCart(t *testing.T) {{\n{indent(body, chr(9))}\n}}\n"
    found = golang.facts(SgRoot(source, "go").root(), path).declarations
    return golang.test(next(one for one in found if one.name == name))


def only(body: str) -> Assertion:
    (assertion,) = inside(body).assertions
    return assertion


@pytest.mark.parametrize(
    ("body", "strength", "about", "expected"),
    [
        ("if got != want { t.Errorf(got) }", EXACTLY, "got", "want"),
        ("if want != got { t.Fatal(got) }", EXACTLY, "got", "want"),
        ("if got := total(1); got != 3 { t.Errorf(got) }", EXACTLY, "total(1)", "3"),
        ("if 3 != total() { t.Fail() }", EXACTLY, "total()", "3"),
        ("if !reflect.DeepEqual(got, want) { t.Errorf(got) }", EXACTLY, "got", "want"),
        ("if !got.Equal(want) { t.Errorf(got) }", EXACTLY, "got", "want"),
        ('if diff := cmp.Diff(want, got); diff != "" { t.Error(diff) }', EXACTLY, "got", "want"),
        ("if got == 3 { done() } else { t.Error(got) }", EXACTLY, "got", "3"),
        ("if x == nil { t.Fatal(x) }", SOMETHING, "x", None),
        ("if x != nil { t.Fatal(x) }", EXACTLY, "x", "nil"),
        ("if err != nil { t.Fatal(err) }", SOMETHING, "err", "nil"),
        ("if !ok { t.Fatal() }", SOMETHING, "ok", None),
        ("if len(got) != 3 { t.Fatal() }", PARTLY, "len(got)", "3"),
        ("if got < 3 { t.Fatal() }", PARTLY, "got", "3"),
        ('if !strings.Contains(got, "x") { t.Fatal() }', PARTLY, "got", '"x"'),
        ("if (err != nil) != tt.wantErr { t.Fatal() }", PARTLY, "err", "tt.wantErr"),
        ("if got == old { t.Fatal() }", SOMETHING, "got", None),
        ("select {\ncase <-done:\ndefault:\n\tt.Fatal(late)\n}", SOMETHING, "t.Fatal(late)", None),
        ("assert.Equal(t, 3, total())", EXACTLY, "total()", "3"),
        ("assert.Equalf(t, 3, total(), hint)", EXACTLY, "total()", "3"),
        ("require.JSONEq(t, want, got)", EXACTLY, "got", "want"),
        ("assert.NotEqual(t, 3, total())", SOMETHING, "total()", None),
        ("assert.True(t, ok)", SOMETHING, "ok", None),
        ("assert.True(t, a == b)", EXACTLY, "a", "b"),
        ("assert.False(t, a != b)", EXACTLY, "a", "b"),
        ("assert.Nil(t, got)", EXACTLY, "got", "nil"),
        ("assert.Nil(t, err)", SOMETHING, "err", "nil"),
        ("assert.Nil(t, save(x))", SOMETHING, "save(x)", "nil"),
        ("assert.NotNil(t, got)", SOMETHING, "got", None),
        ("assert.NoError(t, err)", SOMETHING, "err", None),
        ("assert.Len(t, got, 3)", PARTLY, "got", "3"),
        ("assert.Contains(t, got, 3)", PARTLY, "got", "3"),
        ("assert.Empty(t, got)", EXACTLY, "got", '""'),
        ("m.AssertExpectations(t)", PARTLY, "", None),
        ("c.Assert(got, Equals, 3)", EXACTLY, "got", "3"),
        ("qt.Assert(t, got, qt.IsNil)", EXACTLY, "got", "nil"),
        ("assert.Assert(t, is.Equal(got, 3))", EXACTLY, "got", "3"),
        ("require.Eventually(t, func() bool { return ok }, wait, tick)", PARTLY, "func() bool { return ok }", "wait"),
        ("Expect(got).To(Equal(3))", EXACTLY, "got", "3"),
        ("Expect(got).ToNot(Equal(3))", SOMETHING, "got", None),
        ("g.Expect(got).Should(HaveLen(3))", PARTLY, "got", "3"),
        ("Eventually(get).WithTimeout(wait).Should(BeTrue())", SOMETHING, "get", None),
        ("Expect(err).NotTo(HaveOccurred())", SOMETHING, "err", None),
        ('Expect(n).To(BeNumerically("==", 3))', EXACTLY, "n", "3"),
        ("checkTotal(t, got, 3)", PARTLY, "got, 3", None),
        ("cartsMatch(got, t)", PARTLY, "got", None),
        ('t.Run("of another", testOther)', PARTLY, "testOther", None),
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
        ("if err == nil { t.Fatal() }", PARTLY, "error"),
        ("if !errors.Is(err, ErrEmpty) { t.Fatal() }", EXACTLY, "ErrEmpty"),
        ("if err != ErrEmpty { t.Fatal() }", EXACTLY, "ErrEmpty"),
        ("assert.Error(t, err)", PARTLY, "error"),
        ('assert.ErrorContains(t, err, "empty")', PARTLY, "error"),
        ("assert.ErrorIs(t, err, ErrEmpty)", EXACTLY, "ErrEmpty"),
        ('assert.EqualError(t, err, "empty")', EXACTLY, "error"),
        ("assert.Panics(t, f)", PARTLY, "panic"),
        ("assert.PanicsWithValue(t, 3, f)", EXACTLY, "panic"),
        ("Expect(err).To(HaveOccurred())", PARTLY, "error"),
        ("Expect(err).To(MatchError(ErrEmpty))", EXACTLY, "ErrEmpty"),
    ],
)
def test_assertions_name_the_error_they_expect(body: str, strength: Strength, error: str) -> None:
    found = only(body)
    assert (found.strength, found.error) == (strength, error)


@pytest.mark.parametrize(
    "body",
    [
        "assert.InDelta(t, 3.0, got, 0.01)",
        'Expect(got).To(BeNumerically("~", 3.0, 0.01))',
        "if math.Abs(got-3.0) > 0.01 { t.Error() }",
    ],
)
def test_assertions_say_how_far_off_is_right(body: str) -> None:
    found = only(body)
    assert (found.strength, found.about, found.expected, found.tolerance) == (PARTLY, "got", "3.0", 0.01)


@pytest.mark.parametrize(
    "body",
    [
        "assert.True(t, true)",
        "assert.Equal(t, 1, 1)",
        "assert.Equal(t, got, got)",
        "assert.True(t, ok || true)",
        "assert.True(t, ok || !ok)",
        "assert.True(t, len(x) >= 0)",
        "assert.NoError(t, nil)",
        "assert.NotNil(t, 3)",
        "Expect(true).To(BeTrue())",
        "Expect(got).To(Equal(got))",
        "Expect(got)",
        "if got != got { t.Error() }",
        'm.On("Total").Return(3)\nassert.Equal(t, 3, m.Total())',
        "m.EXPECT().Total().Return(3)\ngot := m.Total()\nassert.Equal(t, 3, got)",
    ],
)
def test_what_always_holds_says_nothing(body: str) -> None:
    assert [one.strength for one in inside(body).assertions] == [NOTHING]


def test_what_a_mock_answers_says_something_about_the_code_that_passes_it_on() -> None:
    assert only('m.On("Total").Return(3)\nassert.Equal(t, 3, cart(m).Total())').strength is EXACTLY


def test_each_part_of_a_condition_is_an_assertion() -> None:
    found = inside("if got.a != 1 || got.b != 2 { t.Error(got) }").assertions
    assert [(one.about, one.expected) for one in found] == [("got.a", "1"), ("got.b", "2")]


@pytest.mark.parametrize(
    "body",
    [
        'log.Error("no")',
        "logger.Error(err)",
        "c.Error(err)",
        "cart.Add(3)",
        "setUp(t)",
        "t.Log(got)",
        "if x { cart.Add(3) }",
    ],
)
def test_other_calls_are_no_assertions(body: str) -> None:
    assert inside(body).assertions == ()


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("return\nassert.Equal(t, 3, total())", "return"),
        ("if true {\n\treturn\n}\nassert.Equal(t, 3, total())", "return"),
        ("os.Exit(0)\nassert.Equal(t, 3, total())", "os.Exit(0)"),
        ("if false {\n\tassert.Equal(t, 3, total())\n}", "if false"),
        ("_ = func() {\n\tassert.Equal(t, 3, total())\n}", "_ = func()"),
        ("assert.Equal(new(testing.T), 3, total())", "assert.Equal(new(testing.T), 3, total())"),
    ],
)
def test_assertions_that_can_not_fail_are_counted_but_not_listed(body: str, leaves: str) -> None:
    found = inside(body)
    assert (found.assertions, found.unreached, found.leaves) == ((), 1, leaves)


@pytest.mark.parametrize(
    ("body", "unreached"),
    [
        ('if got != want {\n\tt.Logf("got %v", got)\n}', 1),
        ("if err := f(); err != nil {\n\tt.Log(err)\n}", 1),
        ("t.Run(name, func(t *testing.T) {\n\tif got != want {\n\t\tt.Log(got)\n\t}\n})", 1),
        ("if got != want {\n\tt.Log(got)\n\tt.Fail()\n}", 0),
        ("if verbose {\n\tt.Log(got)\n}", 0),
        ("defer func() {\n\tif err := f.Close(); err != nil {\n\t\tt.Log(err)\n\t}\n}()", 0),
        ("t.Cleanup(func() {\n\tif err := f.Close(); err != nil {\n\t\tt.Log(err)\n\t}\n})", 0),
    ],
)
def test_what_is_only_logged_can_not_fail(body: str, unreached: int) -> None:
    assert inside(body).unreached == unreached


def test_a_return_in_a_closure_or_a_branch_ends_only_that() -> None:
    found = inside("f(func() { return })\nif x {\n\treturn\n}\nassert.Equal(t, 3, total())")
    assert (len(found.assertions), found.unreached, found.leaves) == (1, 0, None)


def test_a_label_is_reached_only_by_a_goto() -> None:
    loop = "again:\nfor {\n\tassert.Equal(t, 3, total())\n\tbreak again\n}"
    assert inside(f"return\n{loop}").unreached == 1
    assert inside(f"if x {{\n\tgoto again\n}}\nreturn\n{loop}").unreached == 0


def test_giving_up_when_the_code_fails_is_leaving() -> None:
    body = "got, err := total()\nif err != nil {\n\treturn\n}\nassert.Equal(t, 3, got)"
    assert inside(body).leaves == "if err != nil { return }"


def test_a_test_that_runs_itself_as_a_process_may_exit() -> None:
    assert inside('if os.Getenv("CHILD") == "1" {\n\tos.Exit(0)\n}\nassert.Equal(t, 3, got)').leaves is None


@pytest.mark.parametrize(
    ("body", "running", "reason"),
    [
        ("assert.True(t, ok)", ALWAYS, None),
        ('t.Skip("slow")\nassert.True(t, ok)', NEVER, "slow"),
        ("t.SkipNow()", NEVER, "t.SkipNow()"),
        ("if true { t.Skip(why) }", NEVER, "why"),
        ("if false { t.Skip(why) }", ALWAYS, None),
        ("if testing.Short() { t.Skip() }", SOMETIMES, "testing.Short()"),
        ('if runtime.GOOS == "windows" { return }', SOMETIMES, 'runtime.GOOS == "windows"'),
        ("if err != nil { return }", ALWAYS, None),
        ("skipUnlessDocker(t)", SOMETIMES, "skipUnlessDocker(t)"),
        ("for _, tt := range rows {\n\tif tt.skip { t.Skip() }\n}", ALWAYS, None),
    ],
)
def test_skips_decide_whether_it_runs(body: str, running: Running, reason: str | None) -> None:
    found = inside(body)
    assert (found.running, found.reason) == (running, reason)


@pytest.mark.parametrize(
    ("constraint", "running"),
    [
        ("", ALWAYS),
        ("//go:build ignore", NEVER),
        ("//go:build integration", SOMETIMES),
        ("//go:build integration && ignore", NEVER),
        ("//go:build never", NEVER),
        ("//go:build !integration", ALWAYS),
        ("//go:build go1.18", ALWAYS),
        ("//go:build go1.99", NEVER),
        ("//go:build !go1.19", SOMETIMES),
        ("//go:build !go1.1", NEVER),
        ("//go:build linux", SOMETIMES),
        ("//go:build linux && !linux", NEVER),
        ("//go:build linux || !linux", ALWAYS),
        ("//go:build !(windows || plan9)", SOMETIMES),
        ("// +build linux,amd64 darwin", SOMETIMES),
        ("// +build ignore", NEVER),
    ],
)
def test_build_constraints_decide_whether_it_runs(constraint: str, running: Running) -> None:
    assert inside("check(t)", before=f"{constraint}\n\n").running is running


def test_the_name_of_a_file_is_a_build_constraint() -> None:
    assert inside("check(t)", path="cart_windows_test.go").running is SOMETIMES
    assert inside("check(t)", path="windows_test.go").running is ALWAYS


def test_a_subtest_is_skipped_with_the_test_around_it() -> None:
    body = 't.Skip("all")\nt.Run("one", func(t *testing.T) { assert.True(t, ok) })'
    assert inside(body, name="TestCart/one").running is NEVER
    skipped = 't.Run("one", func(t *testing.T) { t.Skip("it"); assert.True(t, ok) })\nassert.True(t, other)'
    assert inside(skipped, name="TestCart/one").running is NEVER
    whole = inside(skipped)
    assert (whole.running, len(whole.assertions), whole.unreached) == (ALWAYS, 1, 1)


def spec(source: str, name: str) -> facts.Test:
    text = f'package p\nvar _ = Describe("cart", func() {{\n{source}\n}})\n'
    found = golang.facts(SgRoot(text, "go").root(), "cart_test.go").declarations
    return golang.test(next(one for one in found if one.name == f"cart > {name}"))


def test_specs_are_pending_or_focused_away() -> None:
    body = "func() { Expect(a).To(Equal(b)) }"
    assert spec(f'It("a", {body})', "a").running is ALWAYS
    assert spec(f'PIt("a", {body})', "a").running is NEVER
    assert spec(f'It("a", Pending, {body})', "a").running is NEVER
    assert spec(f'XContext("c", func() {{ It("a", {body}) }})', "c > a").running is NEVER
    both = f'FIt("a", {body})\nIt("b", {body})'
    assert (spec(both, "a").running, spec(both, "b").running) == (ALWAYS, NEVER)


def test_specs_say_how_often_and_how_long_they_may_try() -> None:
    found = spec('It("a", FlakeAttempts(3), SpecTimeout(5*time.Second), func() {})', "a")
    assert (found.retries, found.timeout) == (3, 5.0)
    assert (spec('It("a", func() {})', "a").retries, spec('It("a", func() {})', "a").timeout) == (None, None)


def test_an_entry_asserts_what_its_table_does() -> None:
    found = spec('DescribeTable("t", func(a int) { Expect(a).To(Equal(f())) }, Entry("one", 1))', "t > one")
    assert [one.strength for one in found.assertions] == [EXACTLY]
    assert found.cases == ('Entry("one", 1)',)


def test_rows_of_tables_and_names_of_subtests_are_cases() -> None:
    rows = "tests := []struct{ in, want int }{\n\t{1, 2}, // one\n\t{in: 3, want: 4},\n}\nother := []int{7}\n"
    loop = "for _, tt := range tests {\n\tt.Run(tt.name, func(t *testing.T) { check(t, tt) })\n}\n"
    assert inside(rows + loop + 't.Run("last", func(t *testing.T) {})').cases == (
        "{1, 2}",
        "{in: 3, want: 4}",
        '"last"',
    )
    assert inside(rows).cases == ()


def test_a_table_at_the_top_of_the_file_has_the_cases_too() -> None:
    source = "package p\nvar rows = []int{1, 2}\nfunc TestA(t *testing.T) { for _, r := range rows { check(t, r) } }\n"
    (found,) = golang.facts(SgRoot(source, "go").root(), "a_test.go").declarations
    assert golang.test(found).cases == ("1", "2")


def test_what_is_replaced_is_named() -> None:
    body = 'm.On("Get", 3).Return(4)\nstore.EXPECT().Put(3)\nnow = func() int { return 0 }\nc := NewMockClock(ctrl)'
    assert inside(body).mocks == ("m.Get", "store.Put", "MockClock", "now")
    assert inside("f := func() {}\nf = func() {}\ngot := cart.Get(3)").mocks == ()


def test_an_example_asserts_what_it_prints() -> None:
    source = "package p\nfunc ExampleA() {\n\tfmt.Println(3)\n\t// Output:\n\t// 3\n\t// 4\n}\n"
    (found,) = golang.facts(SgRoot(source, "go").root(), "a_test.go").declarations
    (assertion,) = golang.test(found).assertions
    assert (assertion.strength, assertion.about, assertion.expected) == (EXACTLY, "stdout", "3 4")
