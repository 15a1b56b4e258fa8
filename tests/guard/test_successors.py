"""A test that is gone, and what stands in its place or went with it: how much of it explains the loss."""

from collections.abc import Mapping

from untilproven.guard.change import Change
from untilproven.guard.finding import Severity
from untilproven.guard.judging import judge

Weighed = tuple[Severity, tuple[str, ...]]

SUMS = "def test_sums():\n    assert total([1, 2]) == 3\n"
FIRST = 'def test_body_is_text_1():\n    assert reply("/a", "plain").body == "hello"\n'
SECOND = 'def test_body_is_text_2():\n    assert reply("/a", "plain;q=1").body == "hello"\n'


def deletion(before: Mapping[str, str], after: Mapping[str, str]) -> Weighed:
    """How the only deletion in a change is weighed."""
    changes = [
        Change(path, before[path].encode() if path in before else None, after[path].encode() if path in after else None)
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]
    (finding,) = [finding for finding in judge(changes).findings if finding.pattern == "LP-001"]
    return finding.severity, finding.explained


def test_one_of_several_with_the_same_name_but_for_a_number_leaves_a_warning() -> None:
    before = {"tests/test_reply.py": f"{FIRST}\n{SECOND}\n{SUMS}"}
    after = {"tests/test_reply.py": f"{FIRST}\n{SUMS}"}
    assert deletion(before, after) == (Severity.MEDIUM, ("twin",))


def test_one_with_another_name_is_no_twin() -> None:
    before = {"tests/test_reply.py": f"{FIRST}\n{SECOND.replace('is_text_2', 'is_stripped')}\n{SUMS}"}
    after = {"tests/test_reply.py": f"{FIRST}\n{SUMS}"}
    assert deletion(before, after) == (Severity.CRITICAL, ())


def test_the_same_words_in_another_file_may_be_about_something_else() -> None:
    before = {
        "regex/test_match.py": f"from regex import match\n{FIRST}",
        "glob/test_match.py": f"from glob import match\n{FIRST}\n{SUMS}",
    }
    after = {
        "regex/test_match.py": f"from regex import match, other\n{FIRST}",
        "glob/test_match.py": f"from glob import match\n{SUMS}",
    }
    assert deletion(before, after) == (Severity.MEDIUM, ("twin",))


def test_a_new_test_whose_name_says_more_renews_it() -> None:
    old = 'def test_trust_proxy():\n    assert ask("/a", hops=1).forwarded.first == "1"\n'
    body = 'app = start(peer="9.9.9.9")\n    assert app.ask("/a", hops=1).address == "9.9.9.9"\n'
    new = f"def test_trust_proxy_ignores_what_was_forwarded():\n    {body}"
    before = {"tests/test_proxy.py": f"{old}\n{SUMS}"}
    after = {"tests/test_proxy.py": f"{new}\n{SUMS}"}
    assert deletion(before, after) == (Severity.LOW, ("renewed",))


def test_a_new_test_in_another_file_with_words_of_its_name_is_about_something_else() -> None:
    old = 'def test_string_to_pipe():\n    assert text().then(int).parse("12") == 12\n'
    new = 'def test_list_to_registry():\n    found = registry(size=3).export()\n    assert found.ids == ["a"]\n'
    before = {"tests/test_pipe.py": f"{old}\n{SUMS}", "tests/test_export.py": SUMS}
    after = {"tests/test_pipe.py": SUMS, "tests/test_export.py": f"{SUMS}\n{new}"}
    assert deletion(before, after) == (Severity.CRITICAL, ())


def test_new_cases_in_another_file_that_was_there_leave_a_warning_of_a_test_with_words_of_its_name() -> None:
    old = """
def test_error_of_invalid_label():
    with pytest.raises(InvalidBox) as found:
        box("a; 1 ~ b")
    assert found.message() == "expected a sign after 1"
"""
    new = """
@pytest.mark.parametrize("end", [1, 2, 3])
def test_parses_invalid_end(end):
    with pytest.raises(InvalidLabel):
        label(end)
"""
    before = {"tests/test_box.py": f"{old}\n{SUMS}", "tests/test_label.py": SUMS}
    after = {"tests/test_box.py": SUMS, "tests/test_label.py": f"{SUMS}\n{new}"}
    assert deletion(before, after) == (Severity.MEDIUM, ("replaced",))


def test_a_new_test_in_another_file_that_was_there_with_all_of_its_name_and_more_renews_it() -> None:
    old = 'def test_filters_async_parser():\n    found = filtered("a", of=1)\n    assert found.next() == 2\n'
    new = "def test_async_parser_filters_nothing():\n    with pytest.raises(Empty):\n        Delegate(3).advance()\n"
    before = {"tests/test_loop.py": f"{old}\n{SUMS}", "tests/test_filter.py": SUMS}
    after = {"tests/test_loop.py": SUMS, "tests/test_filter.py": f"{SUMS}\n{new}"}
    assert deletion(before, after) == (Severity.LOW, ("renewed",))


MANIFEST = """
def test_name():
    read = find("META-INF/MANIFEST.MF").attributes()
    assert read["Import-Package"] is not None
"""
INTEGRATION = """
def test_imports():
    found = find("META-INF/MANIFEST.MF").attributes().split(",")
    assert found == ["sun.misc"]

def test_exports():
    assert find("META-INF/MANIFEST.MF").attributes()["Import-Package"] == "a"
    assert find("META-INF/MANIFEST.MF").attributes()["Export-Package"] == "b"
"""


def test_a_file_is_renewed_by_one_whose_name_says_the_same_and_more() -> None:
    before = {"tests/test_bundle.py": MANIFEST}
    assert deletion(before, {"integration/test_bundle_manifest.py": INTEGRATION}) == (Severity.LOW, ("renewed",))
    assert deletion(before, {"integration/test_other.py": INTEGRATION}) == (Severity.MEDIUM, ("replaced",))


OPTIONS = """
def read(options):
    label = options.get("label")
    if "request_label" in options:
        warn("request_label is deprecated")
        label = options["request_label"]
    return label
"""
LABEL = 'def test_label_of_old():\n    assert read({"request_label": "a"}) == "a"\n'


def test_a_name_that_the_source_has_nearly_stopped_to_handle_leaves_a_warning() -> None:
    mentioned = 'KNOWN = ["request_label"]\n'
    before = {"tests/test_options.py": f"{LABEL}\n{SUMS}", "options.py": mentioned + OPTIONS}
    after = {
        "tests/test_options.py": SUMS,
        "options.py": mentioned + 'def read(options):\n    return options.get("label")\n',
    }
    assert deletion(before, after) == (Severity.MEDIUM, ("source-removed",))


def test_and_not_one_that_it_handles_in_another_way() -> None:
    before = {"tests/test_options.py": f"{LABEL}\n{SUMS}", "options.py": OPTIONS}
    other = OPTIONS.replace('"request_label" in options', 'options.get("request_label")').replace(
        'warn("request_label', 'note("request_label'
    )
    after = {"tests/test_options.py": SUMS, "options.py": other}
    assert deletion(before, after)[0] is Severity.CRITICAL


def test_a_function_that_lost_lines_leaves_a_warning_for_a_test_that_is_named_after_it() -> None:
    vary = "def vary(field):\n    if not field:\n        note('nothing')\n        return None\n    return add(field)\n"
    test = "def test_vary_without_anything():\n    assert ask('/').headers == {}\n"
    before = {"tests/test_response.py": f"{test}\n{SUMS}", "response.py": vary}
    after = {"tests/test_response.py": SUMS, "response.py": "def vary(field):\n    return add(field)\n"}
    assert deletion(before, after) == (Severity.MEDIUM, ("source-removed",))


def test_tests_of_a_file_that_are_explained_each_in_another_way_leave_a_warning() -> None:
    gone = (
        'def test_magic():\n    assert magic_number() == 7\n\ndef test_twice_1():\n    assert ask("/a").body == "b"\n'
    )
    twin = 'def test_twice_2():\n    assert ask("/a").body == "b"\n'
    before = {"tests/test_gone.py": gone, "tests/test_kept.py": twin, "magic.py": "def magic_number():\n    return 7\n"}
    after = {"tests/test_kept.py": f"{twin}\n{SUMS}"}
    assert deletion(before, after) == (Severity.MEDIUM, ("explained-apart",))


def test_a_variant_for_one_version_is_a_note_where_one_that_runs_everywhere_stays() -> None:
    mark = "@pytest.mark.skipif(sys.version_info >= (3, 9), reason='old')\n"
    body = "".join(f'    assert reply("/{word}", {word}=True).{word}_of_it == "{word}"\n' for word in "abcdefgh")
    first, second = (f"def test_body_{number}():\n{body}" for number in (1, 2))
    before = {"tests/test_reply.py": f"{first}\n{mark}{second}    assert extra\n\n{SUMS}"}
    after = {"tests/test_reply.py": f"{first}\n{SUMS}"}
    assert deletion(before, after) == (Severity.LOW, ("variant",))


def test_a_constant_that_is_gone_explains_a_test_that_names_it() -> None:
    test = "@pytest.mark.skipif(PY_3_10_PLUS, reason='old')\ndef test_old():\n    assert total([]) == 0\n"
    before = {"tests/test_cart.py": f"{test}\n{SUMS}", "compat.py": "PY_3_10_PLUS = version >= 10\nX = 1\n"}
    after = {"tests/test_cart.py": SUMS, "compat.py": "X = 1\n"}
    assert deletion(before, after) == (Severity.LOW, ("symbol-removed",))


def test_tests_that_are_only_called_otherwise_are_the_same_however_many() -> None:
    old, new = "", ""
    for n in range(70):
        old += f"    @Test public void testAsks{'x' * n}() {{ assertEquals({n}, a{n}(b{n})); }}\n"
        new += f"    @Test void asks{'x' * n}() {{ assertEquals({n}, a{n}(b{n}, c)); }}\n"
    path = "src/test/java/AskingTest.java"
    change = Change(path, f"class AskingTest {{\n{old}}}\n".encode(), f"class AskingTest {{\n{new}}}\n".encode())
    assert [finding for finding in judge([change]).findings if finding.pattern == "LP-001"] == []
