from untilproven.config import values
from untilproven.model.settings import BY_KEY, OPTIONS, SECTIONS, Kind, Trust


def test_every_key_variable_and_flag_belongs_to_one_setting() -> None:
    assert len(BY_KEY) == len(OPTIONS)
    assert len({option.variable for option in OPTIONS}) == len(OPTIONS)
    spelled = [flag for option in OPTIONS for flag in option.flags]
    assert len(set(spelled)) == len(spelled)


def test_names_are_derived_from_the_key() -> None:
    option = BY_KEY["task.max_iterations"]
    assert (option.section, option.variable, option.flag) == (
        "task",
        "RALPH_TASK_MAX_ITERATIONS",
        "--task-max-iterations",
    )
    assert BY_KEY["max_iterations"].flags == ("--max-iterations", "-n")


def test_no_setting_has_the_name_of_a_section() -> None:
    assert not SECTIONS & BY_KEY.keys()


def test_every_default_and_example_is_a_value_the_setting_may_have() -> None:
    for option in OPTIONS:
        for value in (option.default, option.example):
            if value is not None:
                assert values.from_toml(option, values.to_plain(value)) == value


def test_every_setting_without_a_default_shows_an_example() -> None:
    for option in OPTIONS:
        assert option.default not in (None, ()) or option.example or option.choices, option.key


def test_whatever_names_a_program_or_opens_the_room_always_waits_for_trust() -> None:
    dangerous = {"agent", "agent_cmd", "until", "sandbox", "network", "share", "env", "agent_home", "check_network"}
    dangerous |= {"allow_test_edits", "notify", "on_gate", "metric", "queue.tracker", "queue.tracker_label"} | {
        key for key in BY_KEY if key.startswith("hooks.")
    }
    assert {option.key for option in OPTIONS if option.trust is Trust.ALWAYS} == dangerous


def test_every_limit_and_permission_waits_for_trust_where_it_is_weakened() -> None:
    weaker_when_raised = {"trust_promise", "allow_unknown_cost", "allow_dependency_changes", "commit"}
    weaker_when_raised |= {"session.enabled", "queue.parallelism", "session.max_iterations", "queue.max_tasks"}
    weaker_when_raised |= {"max_iterations", "max_tokens", "task.max_iterations"}
    weaker_when_raised |= {option.key for option in OPTIONS if option.kind in (Kind.DURATION, Kind.MONEY)}
    assert {option.key for option in OPTIONS if option.trust is Trust.RAISED} == weaker_when_raised
    assert {option.key for option in OPTIONS if option.trust is Trust.LOWERED} == {
        "auto_test",
        "measure",
        "require_proof",
    }
