"""Hooks are told everything, and whatever they do the loop goes on."""

import os
import re
import resource
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from process.scenes import alive, pids_in, run_program, wait_for
from untilproven.model import schema
from untilproven.model.hooks import Anomaly, Hook
from untilproven.model.iteration import Action, Continue, Failed
from untilproven.model.settings import BY_KEY
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.model.task import Task
from untilproven.runtime.hooks import Hooks, LoopHooks, task_of
from untilproven.runtime.hooks.calls import REMEMBERED

LOOP = "ralph-fix-0123abcd"
TASK = Task(id=LOOP, title="fix it")
ACTION = Action(kind="bash", target="pytest -q")
PAGE = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text()


def hooks_in(root: Path, callables: LoopHooks | None = None, **more: Any) -> Hooks:
    commands: dict[str, str] = more.pop("commands", {})
    log = more.pop("log", root / "hook-log.jsonl")
    return Hooks(callables or LoopHooks(), commands, log, root, LOOP, "mark", **more)


def lines(root: Path) -> list[dict[str, Any]]:
    found = [msgspec.json.decode(line) for line in (root / "hook-log.jsonl").read_bytes().splitlines()]
    for line in found:
        jsonschema.Draft202012Validator(schema.schema("hook-log")).validate(line)
    return found


def outcome(root: Path) -> dict[str, Any]:
    (line,) = lines(root)
    (found,) = line["outcomes"]
    assert isinstance(found, dict)
    return found


def whole_loop(hooks: Hooks) -> None:
    hooks.on_task_start(TASK)
    hooks.on_iteration_start(TASK, 1)
    hooks.on_action(ACTION)
    hooks.on_iteration_end(TASK, 1, Failed(error="no"))
    hooks.on_anomaly(Anomaly(kind="stuck", message="in circles", iteration=1, details={"trees": 2}))
    hooks.on_task_end(TASK, success=False)


def test_callables_get_what_source_002_gives_them(tmp_path: Path) -> None:
    told: list[tuple[Any, ...]] = []

    def note(*arguments: Any) -> None:
        told.append(arguments)

    names = LoopHooks.__struct_fields__
    hooks = hooks_in(tmp_path, LoopHooks(**dict.fromkeys(names, note)))
    whole_loop(hooks)
    assert [arguments[0] for arguments in told[:3]] == [TASK, TASK, ACTION]
    assert told[1] == (TASK, 1)
    assert told[3] == (TASK, 1, Failed(error="no"))
    assert told[4][0].details == {"trees": 2}
    assert told[5] == (TASK, False)
    assert [line["hook_name"] for line in lines(tmp_path)] == [
        "onTaskStart",
        "onIterationStart",
        "onAction",
        "onIterationEnd",
        "onAnomaly",
        "onTaskEnd",
    ]


def test_commands_get_json_on_stdin_and_names_in_their_environment(tmp_path: Path) -> None:
    line = "cat >> said; echo $RALPH_HOOK $RALPH_LOOP_ID $RALPH_ITERATION $(pwd) >> named"
    whole_loop(hooks_in(tmp_path, commands=dict.fromkeys(list(Hook), line)))
    said = [msgspec.json.decode(line) for line in (tmp_path / "said").read_bytes().splitlines()]
    task = {"id": LOOP, "title": "fix it", "status": "pending", "priority": 0.0}
    assert said == [
        {"hook": "onTaskStart", "loop_id": LOOP, "iteration": 0, "task": task},
        {"hook": "onIterationStart", "loop_id": LOOP, "iteration": 1, "task": task},
        {"hook": "onAction", "loop_id": LOOP, "iteration": 1, "action": {"kind": "bash", "target": "pytest -q"}},
        {
            "hook": "onIterationEnd",
            "loop_id": LOOP,
            "iteration": 1,
            "task": task,
            "result": {"status": "failed", "error": "no"},
        },
        {
            "hook": "onAnomaly",
            "loop_id": LOOP,
            "iteration": 1,
            "anomaly": {"kind": "stuck", "message": "in circles", "iteration": 1, "details": {"trees": 2}},
        },
        {"hook": "onTaskEnd", "loop_id": LOOP, "iteration": 1, "task": task, "success": False},
    ]
    named = (tmp_path / "named").read_text().splitlines()
    assert named[0] == f"onTaskStart {LOOP} 0 {tmp_path}"
    assert named[2] == f"onAction {LOOP} 1 {tmp_path}"
    assert all(line["outcomes"][0]["ok"] and line["outcomes"][0]["exit_code"] == 0 for line in lines(tmp_path))


def test_without_hooks_nothing_is_written_and_nothing_is_loaded(tmp_path: Path) -> None:
    whole_loop(hooks_in(tmp_path, log=tmp_path / "missing" / "hook-log.jsonl"))
    assert list(tmp_path.iterdir()) == []
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from untilproven.model.task import Task\n"
        "from untilproven.runtime.hooks import Hooks, LoopHooks\n"
        "hooks = Hooks(LoopHooks(), {}, Path('log'), Path(), 'x', 'm')\n"
        "hooks.on_task_start(Task(id='x', title=''))\n"
        "print([name for name in sys.modules if name in {'traceback', 'untilproven.process.watch'}])"
    )
    _, printed = run_program(
        [sys.executable, "-I", "-S", "-c", "import sys; sys.path[:0] = sys.argv[1:]\n" + script, *sys.path], tmp_path
    )
    assert printed["stdout"] == b"[]\n", printed["stderr"]


def test_a_hook_that_is_not_asked_for_is_not_logged(tmp_path: Path) -> None:
    whole_loop(hooks_in(tmp_path, commands={"onTaskEnd": "true"}))
    assert [line["hook_name"] for line in lines(tmp_path)] == ["onTaskEnd"]


def _exits(*_: Any) -> None:
    sys.exit("enough")


def _raises(*_: Any) -> None:
    raise ValueError("no\udc80pe")


def _recurses(*arguments: Any) -> None:
    _recurses(*arguments)


class _Mute(BaseException):
    def __str__(self) -> str:
        raise RuntimeError


def _raises_what_has_no_words(*_: Any) -> None:
    raise _Mute


async def _waits(*_: Any) -> None:
    """Never awaited."""


@pytest.mark.parametrize(
    ("hook", "error"),
    [
        (_exits, "SystemExit: enough"),
        (_raises, "ValueError: no?pe"),
        (_recurses, "RecursionError: "),
        (_raises_what_has_no_words, "_Mute"),
        (_waits, "coroutine function"),
        (lambda: None, "TypeError: "),
    ],
)
def test_what_a_callable_raises_is_logged_and_goes_no_further(
    tmp_path: Path, hook: Callable[..., object], error: str
) -> None:
    hooks = hooks_in(tmp_path, LoopHooks(on_action=hook))
    hooks.on_action(ACTION)
    found = outcome(tmp_path)
    assert not found["ok"]
    assert error in found["error"]
    assert len(found.get("output", "").encode()) <= 4096
    assert hooks.problems == []


def test_the_log_tells_where_a_callable_raised(tmp_path: Path) -> None:
    hooks_in(tmp_path, LoopHooks(on_action=_raises)).on_action(ACTION)
    assert "in _raises" in outcome(tmp_path)["output"]


def test_ctrl_c_gets_through_a_callable(tmp_path: Path) -> None:
    def interrupted(_: Action) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hooks_in(tmp_path, LoopHooks(on_action=interrupted)).on_action(ACTION)


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        ("for i in 1 2 3 4; do echo out; echo err >&2; done; exit 3", 3, "exit code 3"),
        ("./no-such-hook", 127, "exit code 127"),
        ("kill -9 $$", None, "died of signal 9"),
        ("nul\0byte", None, "a NUL byte"),
    ],
)
def test_a_command_that_fails_is_logged_with_what_it_printed(
    tmp_path: Path, command: str, code: int | None, error: str
) -> None:
    hooks_in(tmp_path, commands={"onAction": command}).on_action(ACTION)
    found = outcome(tmp_path)
    assert not found["ok"]
    assert found.get("exit_code") == code
    assert error in found["error"]
    if code == 3:
        assert found["output"] == "out\nerr\n" * 4


def test_a_project_that_is_gone_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "hook-log.jsonl"
    Hooks(LoopHooks(), {"onAction": "true"}, log, tmp_path / "gone", LOOP, "mark").on_action(ACTION)
    assert "cannot enter" in outcome(tmp_path)["error"]


def test_what_cannot_be_written_as_json_is_logged(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onAnomaly": "true", "onAction": "true"})
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    hooks.on_anomaly(Anomaly(kind="odd", message="", details=loop))
    hooks.on_anomaly(Anomaly(kind="odd", message="", details={"what": object()}))
    hooks.on_action(Action(kind="read", target="not \udc80 UTF-8"))
    assert ["could not be told" in line["outcomes"][0]["error"] for line in lines(tmp_path)] == [True] * 3


@contextmanager
def no_file_left() -> Iterator[None]:
    """One more file can be opened, and no second."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened[0] + 50, hard))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.dup(opened[0]))
        os.close(opened.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in opened:
            os.close(fd)


def test_no_process_can_be_started_and_the_loop_goes_on(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onAction": "true"})
    hooks.on_action(ACTION)  # so that everything is loaded
    with no_file_left():
        hooks.on_action(ACTION)
    assert [line["outcomes"][0]["ok"] for line in lines(tmp_path)] == [True, False]


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    line = (
        "trap '' TERM; echo begun; (setsid sleep 600 & echo $! > child.pid); echo $$ > self.pid; sleep 600; sleep 600"
    )
    hooks_in(tmp_path, commands={"onAction": line}, call_seconds=0.5).on_action(ACTION)
    found = outcome(tmp_path)
    assert found["seconds"] < 15
    assert found["error"] == "not done after 0.5 s, and ended"
    assert found["output"] == "begun\n"
    assert "exit_code" not in found
    assert len(pids_in(tmp_path)) == 2
    wait_for(lambda: not any(alive(pid) for pid in pids_in(tmp_path)), "all of it gone")


def test_a_command_that_answers_its_end_with_success_has_not_succeeded(tmp_path: Path) -> None:
    line = "trap 'exit 0' TERM; sleep 600 & wait"
    hooks_in(tmp_path, commands={"onAction": line}, call_seconds=0.3).on_action(ACTION)
    found = outcome(tmp_path)
    assert not found["ok"]
    assert "exit_code" not in found


def test_what_a_command_leaves_in_the_background_is_ended(tmp_path: Path) -> None:
    hooks_in(tmp_path, commands={"onAction": "sleep 600 & echo $! > child.pid"}).on_action(ACTION)
    assert outcome(tmp_path)["ok"]
    wait_for(lambda: not any(alive(pid) for pid in pids_in(tmp_path)), "the child gone")


def test_long_output_is_cut(tmp_path: Path) -> None:
    command = r"head -c 1000000 /dev/zero | tr '\0' '\377'; echo verdict"
    hooks_in(tmp_path, commands={"onAction": command}).on_action(ACTION)
    kept = outcome(tmp_path)["output"]
    assert len(kept.encode()) <= 4096
    assert "bytes cut" in kept
    assert kept.endswith("verdict\n")


def test_a_command_that_does_not_read_is_given_as_much_as_there_is(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onTaskStart": "true"})
    hooks.on_task_start(msgspec.structs.replace(TASK, description="x" * 5_000_000))
    assert outcome(tmp_path)["ok"]


def test_a_hook_inside_the_run_of_an_agent_leaves_the_agent_alone(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onAction": "sleep 600 &"})
    seen: list[bytes] = []

    def output(_: str, chunk: bytes) -> None:
        seen.append(chunk)
        hooks.on_action(ACTION)

    ending, _ = run_program("echo one; sleep 0.2; echo two; exit 4", tmp_path, output=output, marker="mark")
    assert (ending.exit_code, ending.stragglers) == (4, 0)
    assert b"".join(seen) == b"one\ntwo\n"


def test_actions_beyond_the_iterations_time_are_skipped_and_counted(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onAction": "sleep 600"}, call_seconds=0.2, iteration_seconds=0.3)
    hooks.on_iteration_start(TASK, 1)
    for _ in range(40):
        hooks.on_action(ACTION)
    hooks.on_iteration_end(TASK, 1, Continue(reason=""))
    *called, skipped = lines(tmp_path)
    assert len(called) in {1, 2}
    assert skipped["hook_name"] == "onAction"
    assert skipped["outcomes"][0]["error"].startswith(f"{40 - len(called)} commands skipped")
    hooks.on_iteration_start(TASK, 2)
    hooks.on_action(ACTION)
    hooks.on_task_end(TASK, success=True)
    (again,) = lines(tmp_path)[len(called) + 1 :]
    assert again["iteration"] == 2
    assert "not done" in again["outcomes"][0]["error"]


def test_an_action_gets_no_more_time_than_the_iteration_has_left(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, commands={"onAction": "sleep 600"}, call_seconds=60, iteration_seconds=0.2)
    hooks.on_action(ACTION)
    assert outcome(tmp_path)["error"] == "not done after 0.2 s, and ended"


def test_what_is_skipped_is_the_command_not_the_callable_and_no_other_hook(tmp_path: Path) -> None:
    called: list[Action] = []
    commands = {"onAction": "true", "onIterationEnd": "true"}
    hooks = hooks_in(tmp_path, LoopHooks(on_action=called.append), commands=commands, iteration_seconds=0.0)
    hooks.on_action(ACTION)
    hooks.on_iteration_end(TASK, 1, Continue(reason=""))
    assert called == [ACTION]
    assert [line["hook_name"] for line in lines(tmp_path)] == ["onAction", "onAction", "onIterationEnd"]
    assert lines(tmp_path)[-1]["outcomes"][0]["ok"]


def test_a_log_that_cannot_be_written_is_remembered_and_nothing_is_raised(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    link, pipe, gone = tmp_path / "link", tmp_path / "pipe", tmp_path / "no" / "log"
    link.symlink_to(elsewhere)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for log, why in [
            (link, "symbolic links"),
            (pipe, "not a regular file"),
            (gone, "No such file"),
            (tmp_path, "Is a directory"),
        ]:
            hooks = hooks_in(tmp_path, LoopHooks(on_action=_raises), log=log)
            hooks.on_action(ACTION)
            hooks.on_action(ACTION)
            assert len(hooks.problems) == 2
            assert why in hooks.problems[0]
            assert hooks.problems[1] == "onAction: ValueError: no?pe"
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)
    assert elsewhere.read_text() == "mine"


def test_remembered_problems_are_few(tmp_path: Path) -> None:
    count = iter(range(1000))

    def fails(_: Action) -> None:
        raise ValueError(next(count))

    hooks = hooks_in(tmp_path, LoopHooks(on_action=fails), log=tmp_path / "no" / "log")
    for _ in range(100):
        hooks.on_action(ACTION)
    assert len(hooks.problems) == REMEMBERED


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    hooks = hooks_in(tmp_path, LoopHooks(on_action=lambda _: None))
    hooks.on_action(ACTION)
    size = (tmp_path / "hook-log.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        hooks.on_action(ACTION)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(hooks.problems) == 1
    assert (tmp_path / "hook-log.jsonl").stat().st_size == size
    hooks.on_action(ACTION)
    assert len(lines(tmp_path)) == 2


def test_a_loop_is_a_task_named_by_its_first_line() -> None:
    state = LoopState(version="2.0.0", loop_id=LOOP, status=Status.RUNNING, iteration=0, task="\n  Fix it \nall of it")
    assert task_of(state).title == "Fix it"
    assert task_of(state).id == LOOP
    assert task_of(msgspec.structs.replace(state, task=msgspec.UNSET)).title == ""


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert isinstance(found, str)
    return found


def test_the_pages_commands_do_what_it_says(tmp_path: Path, own_home: Path) -> None:
    given = tomllib.loads(example("toml"))["hooks"]
    assert {f"hooks.{name}" for name in given} <= BY_KEY.keys()
    named = {"on_iteration_end": "onIterationEnd", "on_task_end": "onTaskEnd"}
    whole_loop(hooks_in(tmp_path, commands={named[name]: command for name, command in given.items()}))
    assert msgspec.json.decode((own_home / "iterations.jsonl").read_bytes())["result"]["status"] == "failed"
    assert (own_home / "loops.txt").read_text() == f"{LOOP} ended after iteration 1\n"


def test_the_pages_callable_does_what_it_says(tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    exec(compile(example("python"), "hooks.md", "exec"), made)
    whole_loop(hooks_in(tmp_path, made["hooks"]))
    assert made["seen"] == ["fix it: iteration 1: Failed"]
