"""The promise starts the checks, the checks decide: `ralph hook` as an agent calls it."""

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from session.scenes import CHECK, DONE, broken_sum, hook, mend, stop
from support import ralph
from untilproven.session import storage
from untilproven.session.place import SessionPlace
from untilproven.store.layout import Project
from untilproven.store.writer import open_loop


@pytest.fixture
def root(project: Project) -> Path:
    broken_sum(project.root)
    return project.root


def begin(root: Path, *words: str, session: str = "s1", task: str = "Fix add") -> str:
    printed = hook("start", "--session", session, "--", task, "--until", CHECK, *words, cwd=root)
    assert "RALPH LOOP - ITERATION 1/" in printed, printed
    return str(printed)


def loop_id(root: Path, session: str = "s1") -> str:
    return storage.load_link(storage.place_of(root, session)).loop_id


def status(root: Path, session: str = "s1") -> str:
    shown = ralph("status", loop_id(root, session), "--json", cwd=root)
    return str(json.loads(shown.stdout)["status"])


def receipt(root: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((root / f".aiwg/ralph/loops/{loop_id(root)}/receipt.json").read_text())
    return found


def test_a_false_promise_is_refused_and_a_true_one_proven(root: Path) -> None:
    told = begin(root)
    assert "AssertionError: -1 != 3" in told  # the negative control
    refused = stop("s1", DONE, cwd=root)
    assert refused["decision"] == "block"
    assert "AssertionError: -1 != 3" in refused["reason"]
    assert refused["reason"].startswith("[RALPH LOOP - ITERATION 2/100]")
    mend(root)
    accepted = stop("s1", DONE, cwd=root)
    assert "decision" not in accepted
    assert "passes now" in accepted["systemMessage"]
    written = receipt(root)
    assert (written["proof"], written["status"], written["sandbox"]) == ("red-to-green", "completed", "session")
    assert [claim["iteration"] for claim in written["claims"]] == [1, 2]  # type: ignore[attr-defined]
    shown = ralph("show", loop_id(root), cwd=root).stdout
    assert "the agent ran as you, in your session, not confined" in shown
    assert stop("s1", DONE, cwd=root) == ""


def test_the_tree_is_only_looked_at(root: Path) -> None:
    begin(root)
    (root / "notes.txt").write_text("the user's own")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".aiwg" not in path.parts}
    stop("s1", DONE, cwd=root)
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".aiwg" not in path.parts}
    assert before == after


def test_a_test_that_was_bent_proves_nothing(root: Path) -> None:
    begin(root)
    test = root / "test_sums.py"
    test.write_text(test.read_text().replace("3)", "-1)"))
    refused = stop("s1", DONE, cwd=root)
    assert refused["decision"] == "block"
    assert "test_sums.py" in refused["reason"]
    assert status(root) == "running"


def bend(root: Path) -> None:
    """The task asks for other behaviour, and the test says so now."""
    (root / "sums.py").write_text("def add(a, b):\n    return a + b + 1\n")
    test = root / "test_sums.py"
    test.write_text(test.read_text().replace("3)", "4)"))


def test_a_human_may_allow_what_was_to_stay_as_it_was(root: Path) -> None:
    begin(root)
    bend(root)
    answers = [stop("s1", f"{number}\n{DONE}", cwd=root) for number in range(2)]
    assert ["decision" in answer for answer in answers] == [True, False]
    assert "--allow-test-edits" in answers[-1]["systemMessage"]
    assert status(root) == "paused"
    assert stop("s1", f"again\n{DONE}", cwd=root) == ""
    allowed = ralph("resume", loop_id(root), "--allow-test-edits", "test_sums.py", cwd=root)
    assert allowed.returncode == 0, allowed.stderr
    accepted = stop("s1", f"once more\n{DONE}", cwd=root)
    assert "decision" not in accepted
    assert status(root) == "completed"


def test_a_human_may_allow_it_from_the_start(root: Path) -> None:
    begin(root, "--allow-test-edits", "test_*.py")
    bend(root)
    assert "decision" not in stop("s1", DONE, cwd=root)
    assert status(root) == "completed"


def test_installed_files_that_were_changed_prove_nothing(root: Path) -> None:
    """A module that the tests find first, and that says what they want to hear."""
    place = root / "node_modules/helper"
    place.mkdir(parents=True)
    (place / "verdict.txt").write_text("no")
    check = "grep -q yes node_modules/helper/verdict.txt"
    hook("start", "--session", "s1", "--", "Make it say yes", "--until", check, cwd=root)
    (place / "verdict.txt").write_text("yes")
    refused = stop("s1", DONE, cwd=root)
    assert refused["decision"] == "block"
    assert "node_modules" in refused["reason"]


def test_a_deleted_test_is_seen_by_the_guard(root: Path) -> None:
    begin(root)
    mend(root)
    (root / "test_sums.py").write_text("import unittest\n")
    refused = stop("s1", DONE, cwd=root)
    assert refused["decision"] == "block"
    shown = ralph("show", loop_id(root), "--json", cwd=root).stdout
    assert "LP-0" in (root / f".aiwg/ralph/loops/{loop_id(root)}/events.jsonl").read_text(), shown


def test_what_blocks_three_times_ends_the_loop(root: Path) -> None:
    begin(root)
    mend(root)
    (root / "test_sums.py").write_text("import unittest\n")
    answers = [stop("s1", f"{number}\n{DONE}", cwd=root) for number in range(3)]
    assert ["decision" in answer for answer in answers] == [True, True, False]
    assert "dishonest work" in answers[-1]["systemMessage"]
    assert status(root) == "failed"


def test_a_failing_check_at_the_limit_ends_it(root: Path) -> None:
    begin(root, "--max-iterations", "1")
    answer = stop("s1", DONE, cwd=root)
    assert "decision" not in answer
    assert status(root) == "failed"
    assert receipt(root)["status"] == "failed"
    assert ralph("status", cwd=root).stderr.startswith("no loop")


def test_proof_on_the_last_turn_is_a_success(root: Path) -> None:
    begin(root, "--max-iterations=1")
    mend(root)
    stop("s1", DONE, cwd=root)
    assert status(root) == "completed"


def test_what_is_proven_at_the_limit_needs_no_promise(root: Path) -> None:
    begin(root, "-n", "1")
    mend(root)
    stop("s1", "I think I am through.", cwd=root)
    assert status(root) == "completed"


def test_trust_takes_the_word_for_it(project: Project) -> None:
    hook(
        "start", "--session", "s1", "--", "'Write it' --trust-promise --completion-promise 'ALL DONE'", cwd=project.root
    )
    assert stop("s1", "<promise>DONE</promise>", cwd=project.root)["decision"] == "block"
    assert "decision" not in stop("s1", "<promise>ALL DONE</promise>", cwd=project.root)
    assert receipt(project.root)["proof"] == "claimed"


def test_without_until_a_check_is_found(root: Path) -> None:
    printed = hook("start", "--session", "s1", "--", "Fix add", cwd=root)
    assert "-m unittest" in printed
    assert stop("s1", DONE, cwd=root)["decision"] == "block"


def test_a_check_that_cannot_be_run_is_refused_at_the_start(root: Path) -> None:
    printed = hook("start", "--session", "s1", "--", "Fix add", "--until", "no-such-program --at all", cwd=root)
    assert printed.startswith("ralph: ")
    assert "no-such-program" in printed
    assert ralph("status", cwd=root).stderr.startswith("no loop")


def test_a_slow_control_is_made_up_for_on_the_tree_as_it_was(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = f"sleep 1.5; {CHECK}"
    run = (
        "import sys; from untilproven.session import constants; constants.CONTROL_SECONDS = 0.3\n"
        "from untilproven.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    words = ["hook", "start", "--agent", "claude", "--session", "s1", "--", "Fix add", "--until", slow]
    told = subprocess.run(
        [sys.executable, "-c", run, *words], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    assert "the first claim" in told.stderr
    mend(root)
    assert "decision" not in stop("s1", DONE, cwd=root)
    assert receipt(root)["proof"] == "red-to-green"


def test_an_abort_from_another_terminal_is_obeyed(root: Path) -> None:
    begin(root)
    assert ralph("abort", loop_id(root), cwd=root).returncode == 0
    answer = stop("s1", "working", cwd=root)
    assert "decision" not in answer
    assert "aborted" in answer["systemMessage"]
    assert stop("s1", "working", cwd=root) == ""


def test_a_session_whose_loop_was_ended_elsewhere_may_have_another(root: Path) -> None:
    begin(root)
    first = loop_id(root)
    assert ralph("abort", first, cwd=root).returncode == 0
    begin(root)
    assert loop_id(root) != first
    assert status(root) == "running"


def test_a_cancel_waits_for_whoever_is_writing(root: Path) -> None:
    begin(root)
    directory, first = storage.place_of(root, "s1").directory, loop_id(root)
    writer = open_loop(directory, first)
    threading.Timer(1.0, writer.close).start()
    assert hook("cancel", "--session", "s1", cwd=root).startswith("Ralph Loop Cancelled")
    assert status(root) == "aborted"


def test_a_pause_from_another_terminal_is_obeyed_and_taken_back(root: Path) -> None:
    begin(root)
    assert ralph("pause", loop_id(root), cwd=root).returncode == 0
    assert stop("s1", "working", cwd=root) == ""
    assert status(root) == "paused"
    resumed = ralph("resume", loop_id(root), cwd=root)
    assert resumed.returncode == 0, resumed.stderr
    assert "its session" in resumed.stdout + resumed.stderr
    assert stop("s1", "working on", cwd=root)["decision"] == "block"


def test_a_check_is_stopped_by_an_abort(root: Path) -> None:
    hook("start", "--session", "s1", "--", "Fix add", "--until", f"{CHECK} && sleep 60", cwd=root)
    mend(root)
    event = {"session_id": "s1", "last_assistant_message": DONE}
    words = [sys.executable, "-P", "-m", "untilproven", "hook", "stop", "--agent", "claude"]
    with subprocess.Popen(words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hooked:
        assert hooked.stdin
        hooked.stdin.write(json.dumps(event))
        hooked.stdin.close()
        time.sleep(2.5)
        began = time.monotonic()
        assert hook("cancel", "--session", "s1", cwd=root).startswith("Ralph Loop Cancelled")
        assert hooked.stdout
        printed = hooked.stdout.read()
        assert hooked.wait(30) == 0
    assert time.monotonic() - began < 20
    assert "decision" not in printed
    assert status(root) == "aborted"


def test_a_record_that_was_spoilt_lets_the_agent_go_and_frees_the_slot(root: Path) -> None:
    begin(root)
    SessionPlace(storage.place_of(root, "s1").directory, "s1").state.write_text("{not json")
    answer = stop("s1", "working", cwd=root)
    assert "decision" not in answer
    assert "cannot be read" in answer["systemMessage"]
    assert ralph("status", cwd=root).stderr.startswith("no loop")


@pytest.mark.parametrize("lost", ["ralph-loop-state.json", ""])
def test_a_record_that_is_gone_lets_the_agent_go_and_frees_the_slot(root: Path, lost: str) -> None:
    begin(root)
    path = storage.place_of(root, "s1").path
    (path / lost).unlink() if lost else shutil.rmtree(path)
    assert "its record is gone" in stop("s1", "working", cwd=root)["systemMessage"]
    assert ralph("status", cwd=root).stderr.startswith("no loop")
    assert stop("s1", "working", cwd=root) == ""


@pytest.mark.parametrize("then", ["cancel", "start"])
def test_a_start_that_nobody_waited_for_leaves_no_slot_taken(root: Path, then: str) -> None:
    words = [sys.executable, "-P", "-m", "untilproven", "hook", "start", "--session", "s1", "--", "Fix add"]
    starting = subprocess.Popen([*words, "--until", "sleep 60"], cwd=root, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not loop_id(root) and time.monotonic() < deadline:
        time.sleep(0.05)
    starting.kill()
    starting.wait()
    first = loop_id(root)
    if then == "cancel":
        hook("cancel", "--session", "s1", cwd=root)
    else:
        begin(root)
    assert json.loads(ralph("status", first, "--json", cwd=root).stdout)["status"] == "aborted"


def test_a_cancel_does_not_end_the_loop_of_another_session(root: Path) -> None:
    """A link lies in the tree, and may say anything."""
    begin(root)
    begin(root, session="s2")
    storage.save_link(storage.place_of(root, "s2"), storage.Link(loop_id=loop_id(root)))
    hook("cancel", "--session", "s2", cwd=root)
    assert status(root) == "running"


def test_a_raised_limit_in_the_tree_is_not_believed(root: Path) -> None:
    begin(root, "-n", "2")
    path = root / ".aiwg/ralph/sessions/s1/ralph-loop-state.json"
    path.write_text(path.read_text().replace('"maxIterations": 2', '"maxIterations": 200'))
    assert "decision" not in stop("s1", "working", cwd=root)
    assert status(root) == "aborted"


@pytest.mark.parametrize("task", ["", "Delete the tests"])
def test_another_task_in_the_tree_is_not_believed(root: Path, task: str) -> None:
    begin(root, "-n", "2")
    path = root / ".aiwg/ralph/sessions/s1/ralph-loop-state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "prompt": task, "maxIterations": 2 if task else 200}))
    assert "decision" not in stop("s1", "working", cwd=root)
    assert status(root) == "aborted"


def test_a_check_that_was_changed_in_the_tree_is_not_believed(root: Path) -> None:
    begin(root)
    journal = root / f".aiwg/ralph/loops/{loop_id(root)}/events.jsonl"
    journal.write_bytes(journal.read_bytes().replace(CHECK.encode(), b"true" + b" " * (len(CHECK) - 4)))
    answer = stop("s1", DONE, cwd=root)
    assert "decision" not in answer
    assert "cannot be gone on with" in answer["systemMessage"]


def test_a_verdict_that_was_forged_in_the_journal_is_not_believed(root: Path) -> None:
    begin(root)
    stop("s1", DONE, cwd=root)
    journal = root / f".aiwg/ralph/loops/{loop_id(root)}/events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    forged = [
        line.replace(b'"passed":false', b'"passed":true ') if b'"iteration":1,"check"' in line else line
        for line in lines
    ]
    assert forged != lines
    journal.write_bytes(b"".join(forged))
    answer = stop("s1", DONE, cwd=root)
    assert "changed since" in answer["systemMessage"]
    assert "decision" not in answer


def test_a_verdict_that_was_added_to_the_journal_is_not_believed(root: Path) -> None:
    begin(root)
    stop("s1", DONE, cwd=root)
    journal = root / f".aiwg/ralph/loops/{loop_id(root)}/events.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    kinds = ("iteration.observed", "check.finished", "iteration.finished", "iteration.started")
    turn = [line for line in lines if line["type"] in kinds and line.get("iteration")]
    again = [{**line, "iteration": 2, "seq": lines[-1]["seq"] + 1 + at} for at, line in enumerate(turn[1:-1])]
    for line in again:
        line["passed"] = True if line["type"] == "check.finished" else line.get("passed")
    added = [{key: value for key, value in line.items() if value is not None} for line in again]
    with journal.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in added)
    refused = stop("s1", f"again\n{DONE}", cwd=root)
    assert status(root) != "completed", refused


def test_a_stranger_in_the_same_project_is_never_held(root: Path) -> None:
    begin(root)
    assert stop("s2", DONE, cwd=root) == ""
    assert stop("s2", "whatever", cwd=root) == ""
    assert storage.load(storage.place_of(root, "s1")).iteration == 1  # type: ignore[union-attr]


def test_the_session_is_found_wherever_the_agent_has_gone(root: Path, tmp_path: Path) -> None:
    begin(root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert stop("s1", "working", cwd=elsewhere)["decision"] == "block"


def test_background_tasks_of_the_agent_are_waited_for(root: Path) -> None:
    begin(root)
    deferred = stop("s1", "it builds", cwd=root, background_tasks=[{"id": "b1"}])
    assert "decision" not in deferred
    assert "background work" in deferred["systemMessage"]
    assert storage.load(storage.place_of(root, "s1")).iteration == 1  # type: ignore[union-attr]


def test_a_claim_that_gemini_says_again_is_not_made_again(root: Path) -> None:
    begin(root)
    first = f"Hm.\n{DONE}\n"
    refused = stop("s1", first, cwd=root, agent="gemini")
    assert refused["decision"] == "deny"
    again = stop("s1", first + "I go on.", cwd=root, agent="gemini")
    assert again["decision"] == "deny"
    assert "did not output the completion promise" in again["reason"]


def test_the_words_of_a_transcript_serve_where_the_event_has_none(root: Path, tmp_path: Path) -> None:
    begin(root)
    line = {"type": "assistant", "timestamp": "2099-01-01T00:00:00Z", "message": {"role": "assistant", "content": DONE}}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps(line) + "\n")
    said = {"session_id": "s1", "cwd": str(root), "transcript_path": str(transcript)}
    assert "You said that the work is done" in hook("stop", cwd=root, said=said, agent="codex")["reason"]


@pytest.mark.parametrize("said", ["", "not json", "[]", "{}", '{"session_id": ""}', '{"session_id": 7}'])
def test_nonsense_lets_the_agent_go_and_says_why(project: Project, said: str) -> None:
    answer = hook("stop", cwd=project.root, said=said)
    assert answer["systemMessage"].startswith("ralph: ")
    assert "decision" not in answer


def test_a_disk_that_cannot_be_written_lets_the_agent_go(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(root)
    (root / ".aiwg/ralph/sessions/s1/session.lock").unlink()
    (root / ".aiwg/ralph/sessions/s1/session.lock").mkdir()
    answer = stop("s1", "working", cwd=root)
    assert "decision" not in answer
    assert answer["systemMessage"].startswith("ralph: ")


def test_typed_into_an_agent_without_commands(root: Path) -> None:
    said = {"session_id": "c1", "cwd": str(root), "prompt": f'/ralph "Fix add" --until "{CHECK}" --max-iterations 4'}
    started = hook("prompt", cwd=root, said=said, agent="codex")
    assert started["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "Fix add" in started["hookSpecificOutput"]["additionalContext"]
    assert stop("c1", "at it", cwd=root, agent="codex")["decision"] == "block"
    shown = hook("prompt", cwd=root, said={**said, "prompt": "/ralph-status"}, agent="codex")
    assert "iteration 2/4" in shown["reason"]
    again = hook("prompt", cwd=root, said=said, agent="codex")
    assert "already" in again["reason"]
    cancelled = hook("prompt", cwd=root, said={**said, "prompt": "/cancel-ralph"}, agent="codex")
    assert cancelled["reason"] == "Ralph Loop Cancelled: Stopped at iteration 2"
    assert stop("c1", "at it", cwd=root, agent="codex") == ""
    assert hook("prompt", cwd=root, said={**said, "prompt": "hello"}, agent="codex") == ""


def test_words_without_a_slash_serve_where_codex_keeps_the_others(root: Path) -> None:
    said = {"session_id": "c1", "cwd": str(root)}
    begun = hook("prompt", cwd=root, said={**said, "prompt": f"ralph: Fix add --until '{CHECK}'"}, agent="codex")
    assert "Fix add" in begun["hookSpecificOutput"]["additionalContext"]
    shown = hook("prompt", cwd=root, said={**said, "prompt": "ralph-status:"}, agent="codex")
    assert "iteration 1/100" in shown["reason"]
    cancelled = hook("prompt", cwd=root, said={**said, "prompt": "cancel-ralph:"}, agent="codex")
    assert cancelled["reason"] == "Ralph Loop Cancelled: Stopped at iteration 1"


def test_what_is_shown_to_the_user_changes_no_terminal(root: Path) -> None:
    said = {"session_id": "s1", "cwd": str(root)}
    noise = "Fix \x1b[2Jadd"
    check = "printf '\\033[2J'; false"
    begun = hook("prompt", cwd=root, said={**said, "prompt": f'/ralph "{noise}" --until "{check}{noise[4:]}"'})
    assert "\x1b" not in begun["systemMessage"]
    shown = hook("prompt", cwd=root, said={**said, "prompt": "/ralph-status"})
    assert "\x1b" not in shown["reason"] + shown["systemMessage"]
    refused = hook("prompt", cwd=root, said={**said, "prompt": "/ralph x --\x1b[2J"})
    assert "\x1b" not in refused["reason"]
    idle = {"sessionID": "s1", "messages": [{"role": "assistant", "content": DONE}]}
    assert "\x1b" not in hook("idle", cwd=root, said=idle, agent="opencode")["toast"]["message"]


def test_opencode_is_told_what_to_do(root: Path) -> None:
    hook("start", "--session", "ses_1", cwd=root, said=f'"Fix add" --until "{CHECK}"', agent="opencode")
    user = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Fix add"}]}
    false = {"info": {"role": "assistant"}, "parts": [{"type": "text", "text": "hm"}, {"type": "tool", "state": DONE}]}
    event = {"sessionID": "ses_1", "messages": [user, false]}
    told = hook("idle", cwd=root, said=event, agent="opencode")
    assert told["action"] == "prompt"
    assert told["prompt"].startswith("[RALPH LOOP - ITERATION 2/100]")
    assert told["toast"] == {"title": "Ralph Loop", "message": "Iteration 2/100", "variant": "info", "duration": 2000}
    mend(root)
    time.sleep(0.6)
    true = {"info": {"role": "assistant"}, "parts": [{"type": "text", "text": DONE}]}
    done = hook("idle", cwd=root, said={**event, "messages": [user, false, user, true]}, agent="opencode")
    assert done["action"] == "none"
    assert done["toast"]["title"] == "Ralph Loop Complete!"


def test_opencode_may_abort_and_delete(root: Path) -> None:
    hook("start", "--session", "ses_1", cwd=root, said=f'"Fix add" --until "{CHECK}"', agent="opencode")
    told = hook(
        "error", cwd=root, said={"sessionID": "ses_1", "error": {"name": "MessageAbortedError"}}, agent="opencode"
    )
    assert told["toast"]["message"] == "Stopped at iteration 1"
    assert status(root, "ses_1") == "aborted"
    hook("start", "--session", "ses_1", cwd=root, said=f'"Fix add" --until "{CHECK}"', agent="opencode")
    assert hook("deleted", cwd=root, said={"sessionID": "ses_1"}, agent="opencode") == {"action": "none"}
    assert status(root, "ses_1") == "aborted"


def test_nobody_is_there_to_be_cancelled(project: Project) -> None:
    assert hook("cancel", "--session", "s1", cwd=project.root).startswith("No Active Loop")
    assert hook("status", "--session", "s1", cwd=project.root).startswith("No Active Loop")


def test_what_a_session_changed_can_be_looked_at_and_taken_back(root: Path) -> None:
    begin(root)
    mend(root)
    stop("s1", DONE, cwd=root)
    assert "+    return a + b" in ralph("diff", loop_id(root), "1", cwd=root).stdout
    restored = ralph("restore", loop_id(root), "start", cwd=root)
    assert restored.returncode == 0, restored.stderr
    assert "a - b" in (root / "sums.py").read_text()
