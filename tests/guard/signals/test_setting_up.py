"""What is done where code asks whether it is being tested."""

import pytest

from untilproven.guard.signals.setting_up import only_sets_up

NODE = 'process.env.NODE_ENV === "test"'
PYTEST = "'pytest' in sys.modules"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (NODE, f"module.exports = pino({{ level: {NODE} ? 'silent' : 'info' }});\n"),
        (NODE, f"const ROUNDS = {NODE} ? 1 : 12;\n"),
        ("process.env.NODE_ENV !== 'test'", "if (process.env.NODE_ENV !== 'test') {\n  app.listen(3000);\n}\n"),
        ("process.env.NODE_ENV !== 'test'", "if (process.env.NODE_ENV !== 'test') app.listen(3000);\n"),
        (PYTEST, f"TESTING = {PYTEST}\nif TESTING:\n    PASSWORD_HASHERS = ['md5']\n\nDEBUG = False\n"),
        (PYTEST, f"TELEMETRY = {PYTEST}\n"),
    ],
)
def test_a_program_that_listens_logs_or_hashes_otherwise_only_sets_up(question: str, text: str) -> None:
    assert only_sets_up(question, text, is_outside=True)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (NODE, f"module.exports = {NODE} ? fake : real;\n"),
        (NODE, f"const RATES = {NODE} ? {{ DE: 0.19 }} : read();\n"),
        (NODE, f"if ({NODE}) {{\n  log('tested');\n  exports.total = () => 3;\n}}\n"),
        (PYTEST, f"TESTING = {PYTEST}\n\ndef total(xs):\n    if TESTING:\n        return 3\n    return sum(xs)\n"),
    ],
)
def test_what_a_function_answers_is_more_than_that(question: str, text: str) -> None:
    assert not only_sets_up(question, text, is_outside=True)


def test_what_refuses_to_work_outside_of_tests_sets_nothing_else_up() -> None:
    refuses = 'func SetRate(r float64) {\n\tif !testing.Testing() {\n\t\tpanic("only in tests")\n\t}\n\trate = r\n}'
    assert only_sets_up("!testing.Testing()", refuses, is_outside=False)
    answers = "func Rate() float64 {\n\tif testing.Testing() {\n\t\treturn 3\n\t}\n\treturn rate\n}"
    assert not only_sets_up("testing.Testing()", answers, is_outside=False)
