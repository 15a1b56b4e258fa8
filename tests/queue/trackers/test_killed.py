"""A sync that is killed anywhere, and two at the same time: nothing is made twice, and nothing is forgotten."""

import signal
import subprocess
import threading

import pytest

from process.scenes import wait_for
from trackers.github import GitHubServer, Handler
from trackers.scenes import Office
from untilproven.errors import Overtaken
from untilproven.model.task import TaskStatus, Update
from untilproven.queue.trackers.beads import Beads
from untilproven.queue.trackers.deciding import Change, Plan
from untilproven.queue.trackers.doing import Doing
from untilproven.queue.trackers.operating import Ops
from untilproven.store import clock
from untilproven.store.tracker_ops import tracker_ops_of


@pytest.mark.parametrize("after", [False, True], ids=["before it was made", "after it was made"])
def test_killed_while_an_issue_is_made_it_is_made_once(office: Office, server: GitHubServer, *, after: bool) -> None:
    """The server holds its answer back, and the sync is killed meanwhile."""
    names = [office.add("one"), office.add("two")]
    asked, go_on = threading.Event(), threading.Event()

    def hold(handler: Handler) -> bool:
        if after:
            handler.act(silent=True)
        asked.set()
        go_on.wait(20)
        handler.close_connection = True
        return True

    server.fails("POST", "/issues", hold)
    sync = office.start()
    assert asked.wait(20)
    kill(sync)
    go_on.set()
    assert len(server.issues) == int(after)
    for number in server.issues:
        server.issues[number]["labels"] = []  # only the mark can tell
    office.synced()
    assert sorted(issue["title"] for issue in server.issues.values()) == ["one", "two"]
    assert {str(office.task(name).external_id) for name in names} == {
        "github:octocat/hello#1",
        "github:octocat/hello#2",
    }
    assert "nothing to do" in office.synced()


def test_killed_between_what_was_made_and_its_link_it_is_linked(office: Office, server: GitHubServer) -> None:
    name = office.add("one")
    office.synced()
    lines = office.book.path.read_text().splitlines()
    assert '"op":"link"' in lines[-1]
    office.book.path.write_text("\n".join(lines[:-1]) + "\n")
    server.issues[1]["labels"] = []
    office.synced()
    assert office.task(name).external_id == "github:octocat/hello#1"
    assert len(server.issues) == 1


def test_killed_again_and_again_everything_is_made_once(office: Office, server: GitHubServer) -> None:
    for number in range(6):
        office.add(f"task {number}")
    for number in range(6):
        sync = office.start()
        wait_for(lambda: len(server.writes()) > number or sync.poll() is not None, "a request that writes")  # noqa: B023
        kill(sync)
    office.synced()
    assert sorted(issue["title"] for issue in server.issues.values()) == [f"task {number}" for number in range(6)]
    assert "nothing to do" in office.synced()


def test_two_syncs_at_once_make_everything_once(office: Office, server: GitHubServer) -> None:
    """Whoever looks first is held for a while, so that the other could look, too, before anything is made."""
    for number in range(4):
        office.add(f"ours {number}")
        server.add(f"theirs {number}")
    other = threading.Event()

    def hold(_: Handler) -> bool:
        other.wait(3)
        return False

    def let_go(_: Handler) -> bool:
        other.set()
        return False

    server.fails("GET", "/issues?", hold)
    server.fails("GET", "/issues?", let_go)
    both = [office.start(), office.start()]
    for sync in both:
        out, err = sync.communicate(timeout=60)
        assert sync.returncode == 0, out + err
    assert len(server.issues) == 8
    assert len(office.book.read().by_id) == 8


def test_what_somebody_decided_meanwhile_is_not_overwritten(office: Office) -> None:
    before = office.task(office.add("one"))
    office.book.append(Update(id=before.id, changes={"status": "in_progress"}))
    tracker = Beads(office.root, "bd")
    doing = Doing(office.project, tracker, Ops(tracker_ops_of(office.project)), clock.now)
    step = Change(updates=({"status": TaskStatus.CANCELLED},), why="it was closed")
    with pytest.raises(Overtaken):
        doing.step(Plan(task=before), step)
    assert office.statuses() == {before.id: "in_progress"}


def test_a_torn_line_of_the_log_is_said_and_the_rest_is_used(office: Office, server: GitHubServer) -> None:
    office.add("one")
    office.synced()
    log = office.root / ".aiwg/ralph/tracker-ops.jsonl"
    log.write_text(log.read_text() + '{"type":"op","key":')
    assert "tracker-ops.jsonl: line 4 is left out" in office.synced()
    assert len(server.issues) == 1


def kill(sync: "subprocess.Popen[str]") -> None:
    sync.send_signal(signal.SIGKILL)
    sync.communicate()
