"""Issues of GitHub, over HTTP and through `gh`: what is taken over, what is told, and what goes wrong on the way."""

import json
import time
from pathlib import Path

import pytest
from msgspec import UNSET

from trackers.github import TOKEN, GitHubServer, answers, cut, endless, half, other, slow
from trackers.scenes import Office
from untilproven.errors import ConfigError
from untilproven.model.task import TaskStatus, Update
from untilproven.queue.trackers import web
from untilproven.queue.trackers.contract import Off, Refused, Unclear
from untilproven.queue.trackers.github import GitHub, repository_of
from untilproven.store.layout import Project


def tracker(server: GitHubServer, *, seconds: float = 5.0, label: str = "ralph", token: str = TOKEN) -> GitHub:
    return GitHub("octocat/hello", web.Web(server.url, token, seconds), label)


def test_a_task_gets_an_issue_and_is_linked_to_it(office: Office, server: GitHubServer) -> None:
    name = office.add("add a login", description="With a form.", acceptance_criteria=("it has a button",))
    said = office.synced()
    assert server.issues[1]["title"] == "add a login"
    assert server.issues[1]["body"].startswith("With a form.\n\nAccepted when:\n- it has a button\n\n<!-- untilproven:")
    assert [label["name"] for label in server.issues[1]["labels"]] == ["ralph"]
    task = office.task(name)
    assert (task.external_id, task.external_url) == ("github:octocat/hello#1", server.issues[1]["html_url"])
    assert "new there: github:octocat/hello#1" in said


def test_a_second_sync_has_nothing_to_do(office: Office, server: GitHubServer) -> None:
    office.add("one")
    server.add("two", body="as a stranger wrote it\r\n")
    office.synced()
    server.asked.clear()
    before = office.book.path.read_bytes()
    assert "nothing to do" in office.synced()
    assert server.writes() == []
    assert office.book.path.read_bytes() == before


def test_an_issue_with_the_label_becomes_a_task_and_others_do_not(office: Office, server: GitHubServer) -> None:
    server.add("wanted", body="please")
    server.add("by a stranger", labels=())
    server.add("a pull request", pull_request={"url": "https://x"})
    server.close(server.add("over already"))
    office.synced()
    (task,) = office.book.read().by_id.values()
    assert (task.id, task.title, task.description, task.status) == ("RALPH-001", "wanted", "please", "pending")
    assert task.external_id == "github:octocat/hello#1"
    assert task.source is not UNSET
    assert task.source.path == "github:octocat/hello"


def test_with_a_star_for_the_label_every_open_issue_becomes_a_task(office: Office, server: GitHubServer) -> None:
    server.add("one", labels=())
    server.add("two")
    office.synced("--tracker-label=*")
    assert len(office.book.read().by_id) == 2


def test_all_pages_are_read(project: Project) -> None:
    with GitHubServer(page=7) as server:
        for number in range(30):
            server.add(f"issue {number}")
        assert len(tracker(server).find((), new=True)) == 30
        assert len(server.asked) == 5


def test_a_next_page_at_another_place_is_not_asked_for(server: GitHubServer) -> None:
    with GitHubServer() as elsewhere:
        link = {"Link": f'<{elsewhere.url}/repos/octocat/hello/issues>; rel="next"'}
        server.add("one")
        server.fails("GET", "/issues", other([], link))
        with pytest.raises(Refused, match="not where it is"):
            tracker(server).find((), new=True)
        assert elsewhere.asked == []


def test_a_proven_task_closes_its_issue(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    done(office, "RALPH-001")
    office.synced()
    assert (server.issues[1]["state"], server.issues[1]["state_reason"]) == ("closed", "completed")
    server.asked.clear()
    office.synced()
    assert server.writes() == []
    assert not any(one.endswith("/issues/1") for one in server.asked), "what is over on both sides is not asked about"


def test_a_cancelled_task_closes_its_issue_as_not_planned(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    moved(office, "RALPH-001", "cancelled")
    office.synced()
    assert server.issues[1]["state_reason"] == "not_planned"


def test_closed_as_done_there_is_set_aside_here_and_not_done(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    server.close(1)
    said = office.synced()
    task = office.task("RALPH-001")
    assert task.status is TaskStatus.BLOCKED
    assert task.blocker == "github:octocat/hello#1 was closed as done, which is not proven here"
    assert task.tags == ("claimed-done",)
    assert "is blocked now" in said
    (change,) = [line for line in office.lines("progress.jsonl") if line["type"] == "status_change"]
    assert (change["from"], change["to"], change["reason"]) == ("pending", "blocked", task.blocker)
    update = json.loads(office.book.path.read_text().splitlines()[-1])
    assert (update["op"], update["source"]) == ("update", "tracker")
    server.asked.clear()
    assert "nothing to do" in office.synced()
    assert server.writes() == []


def test_opening_it_again_brings_it_back(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    server.close(1)
    office.synced()
    server.reopen(1)
    office.synced()
    task = office.task("RALPH-001")
    assert (task.status, task.tags, task.blocker) == (TaskStatus.PENDING, UNSET, UNSET)


def test_a_user_may_take_the_trackers_word(office: Office, server: GitHubServer) -> None:
    server.add("one")
    server.add("two")
    office.synced()
    server.close(1)
    office.synced()
    server.close(2)
    office.synced("--accept-done")
    assert office.statuses() == {"RALPH-001": "done", "RALPH-002": "done"}
    assert office.task("RALPH-001").tags == ("done-unproven",)


def test_closed_as_not_planned_there_is_cancelled_here_and_comes_back_as_a_new_task(
    office: Office, server: GitHubServer
) -> None:
    server.add("one")
    office.synced()
    server.close(1, "not_planned")
    office.synced()
    assert office.statuses() == {"RALPH-001": "cancelled"}
    server.reopen(1)
    office.synced()
    assert office.statuses() == {"RALPH-001": "cancelled", "RALPH-002": "pending"}
    assert "nothing to do" in office.synced()


def test_a_done_task_stays_done_and_its_issue_is_not_closed_twice(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    done(office, "RALPH-001")
    office.synced()
    server.reopen(1)
    said = office.synced()
    assert "was opened again; RALPH-001 is done for good" in said
    office.synced()
    assert server.issues[1]["state"] == "open"
    assert office.statuses() == {"RALPH-001": "done"}
    (conflict,) = office.conflicts()
    assert (conflict["field"], conflict["resolution"], conflict["ours"]) == ("status", "ours", "done")


def test_on_status_the_tracker_wins_and_it_is_recorded(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    moved(office, "RALPH-001", "blocked", blocker="no idea")
    office.synced()
    server.close(1, "not_planned")
    moved(office, "RALPH-001", "pending")
    moved(office, "RALPH-001", "in_progress")
    office.synced()
    assert office.statuses() == {"RALPH-001": "cancelled"}
    assert office.conflicts() == [], "GitHub cannot say that a task is in progress: only one side has changed"


def test_on_the_words_of_our_own_task_we_win_and_theirs_are_kept(office: Office, server: GitHubServer) -> None:
    name = office.add("add a login", description="With a form.")
    office.synced()
    server.issues[1]["body"] = "Never mind the form."
    office.synced()
    assert server.issues[1]["body"].startswith("With a form.\n\n<!-- untilproven:"), "with its mark again"
    (conflict,) = office.conflicts()
    assert (conflict["taskId"], conflict["field"], conflict["resolution"]) == (name, "description", "ours")
    assert "Never mind the form." in conflict["theirs"]
    assert "nothing to do" in office.synced()


def test_our_own_new_words_go_there_without_a_conflict(office: Office, server: GitHubServer) -> None:
    name = office.add("add a login")
    office.synced()
    mark = server.issues[1]["body"]
    changed(office, name, title="add a log-in")
    office.synced()
    assert server.issues[1]["title"] == "add a log-in"
    assert server.issues[1]["body"] == mark, "the mark by which it is known stays"
    assert office.conflicts() == []


def test_on_the_words_of_their_task_they_win(office: Office, server: GitHubServer) -> None:
    server.add("one", body="first")
    office.synced()
    server.issues[1] |= {"title": "uno", "body": "second"}
    office.synced()
    task = office.task("RALPH-001")
    assert (task.title, task.description) == ("uno", "second")
    changed(office, "RALPH-001", description="ours")
    assert "nothing to do" in office.synced(), "what was edited here stays until it is edited there"
    server.issues[1]["body"] = "third"
    office.synced()
    assert office.task("RALPH-001").description == "third"
    assert [(one["resolution"], one["ours"]) for one in office.conflicts()] == [("tracker", "uno\n\nours")]


def test_pull_writes_nothing_there_and_push_takes_nothing_over(office: Office, server: GitHubServer) -> None:
    office.add("ours")
    server.add("theirs")
    office.synced("--pull")
    assert server.writes() == []
    assert len(office.book.read().by_id) == 2
    server.close(1)
    server.add("another")
    office.synced("--push")
    assert office.statuses() == {"RALPH-001": "pending", "RALPH-002": "pending"}
    assert [issue["title"] for issue in server.issues.values()] == ["theirs", "another", "ours"]
    office.synced("--pull")
    assert office.statuses() == {"RALPH-001": "pending", "RALPH-002": "blocked", "RALPH-003": "pending"}


def test_a_dry_run_does_nothing_and_says_what_it_would_do(office: Office, server: GitHubServer) -> None:
    name = office.add("ours")
    server.add("theirs")
    before = office.book.path.read_bytes()
    said = office.synced("--dry-run")
    assert f"{name}  new there" in said
    assert "new here, from github:octocat/hello#1: theirs" in said
    assert server.writes() == []
    assert office.book.path.read_bytes() == before
    assert not (office.root / ".aiwg/ralph/tracker-ops.jsonl").exists()


def test_what_was_done_can_be_read_as_json(office: Office, server: GitHubServer) -> None:
    name = office.add("ours")
    told = json.loads(office.sync("--json").stdout)
    assert told["tracker"] == "github:octocat/hello"
    assert told["done"] == [
        {
            "action": "create",
            "text": "new there: github:octocat/hello#1",
            "task": name,
            "issue": "github:octocat/hello#1",
            "url": server.issues[1]["html_url"],
        }
    ]


def test_an_issue_that_is_gone_is_said(office: Office, server: GitHubServer) -> None:
    server.add("one")
    office.synced()
    del server.issues[1]
    assert "github:octocat/hello#1 is gone" in office.synced()
    assert office.statuses() == {"RALPH-001": "pending"}


def test_one_that_cannot_be_made_does_not_keep_the_others(office: Office, server: GitHubServer) -> None:
    office.add("one")
    office.add("two")
    server.fails("POST", "/issues", answers(422, "Validation Failed"))
    failed = office.sync()
    assert failed.returncode == 1
    assert "RALPH-001  github:octocat/hello: GitHub refused (422): Validation Failed" in failed.stderr
    assert [issue["title"] for issue in server.issues.values()] == ["two"]
    office.synced()
    assert [issue["title"] for issue in server.issues.values()] == ["two", "one"]


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (403, {"Retry-After": "37"}, "it asks to wait 37 s"),
        (429, {}, "rate limit is reached"),
        (
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 600)},
            r"it ends at \d\d:\d\d:",
        ),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 30}, "does not say until when"),
    ],
)
def test_a_rate_limit_says_until_when(server: GitHubServer, status: int, headers: dict[str, str], said: str) -> None:
    server.fails("GET", "/issues", answers(status, "slow down", headers))
    with pytest.raises(Off, match=said):
        tracker(server).find((), new=True)


def test_a_rate_limit_ends_the_sync_and_the_next_one_goes_on(office: Office, server: GitHubServer) -> None:
    for title in ("one", "two", "three"):
        office.add(title)
    server.fails("POST", "/issues", lambda _: False)
    server.fails("POST", "/issues", answers(403, "secondary rate limit", {"Retry-After": "60"}))
    failed = office.sync()
    assert failed.returncode == 1
    assert len(server.writes()) == 2, "the third was not tried"
    assert "it asks to wait 60 s" in failed.stderr
    office.synced()
    assert sorted(issue["title"] for issue in server.issues.values()) == ["one", "three", "two"]


def test_a_login_that_is_not_accepted_is_said_without_the_token(office: Office, server: GitHubServer) -> None:
    office.add("one")
    office.env["RALPH_GITHUB_TOKEN"] = secret = "ghp_wrong0wrong0wrong0wrong0wrong0wrong"
    failed = office.sync()
    assert failed.returncode == 1
    assert "does not accept the login: Bad credentials" in failed.stderr
    assert secret not in failed.stdout + failed.stderr
    for path in office.root.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


def test_a_short_token_is_not_said_either(server: GitHubServer) -> None:
    with pytest.raises(Off) as caught:
        tracker(server, token="tok3n").find((), new=True)
    assert "tok3n" not in caught.value.message


def test_the_token_is_in_nothing_that_is_kept(office: Office, server: GitHubServer) -> None:
    office.add("one")
    server.fails("POST", "/issues", answers(500, f"echo: Bearer {TOKEN}"))
    failed = office.sync()
    assert "GitHub has a problem (500)" in failed.stderr
    assert TOKEN not in failed.stdout + failed.stderr
    for path in office.root.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


def test_a_repository_that_is_not_there_is_said(project: Project) -> None:
    with GitHubServer("another/one") as server:
        failed = Office(project, server).sync()
    assert failed.returncode == 1
    assert "github:octocat/hello is not there, or this login may not see it" in failed.stderr


def test_what_may_be_asked_twice_is_asked_again(server: GitHubServer) -> None:
    server.add("one")
    server.fails("GET", "/issues", answers(502))
    server.fails("GET", "/issues", half)
    assert len(tracker(server).find((), new=True)) == 1


def test_an_answer_whose_length_is_no_number_is_a_lost_one(server: GitHubServer) -> None:
    server.add("one")
    server.fails("GET", "/issues", endless)
    assert len(tracker(server).find((), new=True)) == 1


def test_an_answer_that_takes_too_long_is_given_up(server: GitHubServer) -> None:
    server.fails("POST", "/issues/1/comments", slow(1.5))
    server.add("one")
    began = time.monotonic()
    with pytest.raises(Unclear):
        tracker(server, seconds=0.3).comment("1", "hello")
    assert time.monotonic() - began < 1.2
    time.sleep(1.5)  # the server is let finish before it is taken down


def test_nothing_is_made_twice_when_the_answer_gets_lost(office: Office, server: GitHubServer) -> None:
    name = office.add("one")
    server.fails("POST", "/issues", cut)
    failed = office.sync()
    assert failed.returncode == 1
    assert len(server.issues) == 1
    server.issues[1]["labels"] = []  # so that it is in no list by itself
    statuses = [line["status"] for line in office.lines("tracker-ops.jsonl") if line["type"] == "op"]
    assert statuses == ["started", "failed_unknown"]
    office.synced()
    assert len(server.issues) == 1
    assert office.task(name).external_id == "github:octocat/hello#1"
    keys = {line["key"] for line in office.lines("tracker-ops.jsonl") if line["type"] == "op"}
    assert len(keys) == 1
    assert keys.pop().startswith(f"{name}:create:")


def test_a_strangers_issue_with_our_mark_is_not_taken_for_ours(office: Office, server: GitHubServer) -> None:
    name = office.add("one")
    office.synced()
    body = server.issues[1]["body"]
    office.book.path.write_text("".join(line + "\n" for line in office.book.path.read_text().splitlines()[:1]))
    server.issues.clear()
    server.add("not yours", body=body, labels=())
    office.synced()
    assert office.task(name).external_id == "github:octocat/hello#2"


def test_a_queue_that_forgot_its_links_finds_its_issues_again(office: Office, server: GitHubServer) -> None:
    name = office.add("one")
    office.synced()
    office.book.path.write_text("".join(line + "\n" for line in office.book.path.read_text().splitlines()[:1]))
    (office.root / ".aiwg/ralph/tracker-ops.jsonl").unlink()
    office.synced()
    assert len(server.issues) == 1
    assert office.task(name).external_id == "github:octocat/hello#1"


def test_hostile_texts_are_made_harmless(office: Office, server: GitHubServer) -> None:
    server.add("\x1b]0;owned\x07bad\r\ntitle\u202e\x00", body="\x1b[2J" + "x" * 1_000_000)
    server.add("\ud800 half a character"[1:] + "\n" * 5 + "y" * 1000, body=None)
    said = office.synced()
    assert "\x1b" not in said
    first, second = office.task("RALPH-002"), office.task("RALPH-001")
    assert first.title == "bad title"
    assert first.description is not UNSET
    assert len(first.description) <= 60_000
    assert "\x1b" not in first.description
    assert len(second.title) <= 256
    assert "\n" not in second.title
    assert "nothing to do" in office.synced()


def test_gh_is_asked_where_there_is_no_token(office: Office, server: GitHubServer) -> None:
    office.install("gh", "gh.py", GH_STAND_IN_URL=server.url, GH_STAND_IN_TOKEN=TOKEN)
    del office.env["RALPH_GITHUB_TOKEN"]
    name = office.add("ours", description="one\r\n\r\ntwo")
    server.add("theirs", body="three\r\n\r\nfour")
    office.synced()
    assert office.task("RALPH-002").description == "three\n\nfour"
    done(office, name)
    office.synced()
    assert server.issues[2]["state"] == "closed"
    server.fails("GET", "/issues", answers(403, "no", {"Retry-After": "9"}))
    assert "it asks to wait 9 s" in office.sync().stderr


def test_without_a_login_it_is_said_how_to_get_one(office: Office) -> None:
    office.install("gh", "gh.py")
    del office.env["RALPH_GITHUB_TOKEN"]
    failed = office.sync()
    assert failed.returncode == 1
    assert "nobody is logged in to GitHub here" in failed.stderr
    assert "gh auth login" in failed.stderr


def test_a_gh_in_the_projects_tree_is_not_run(office: Office) -> None:
    trap = office.root / "bin"
    trap.mkdir()
    (trap / "gh").write_text("#!/bin/sh\ntouch ../ran\n")
    (trap / "gh").chmod(0o755)
    del office.env["RALPH_GITHUB_TOKEN"]
    office.env["PATH"] = f"{trap}:/usr/bin:/bin"
    assert office.sync().returncode == 1
    assert not (office.root.parent / "ran").exists()


def test_a_token_goes_to_no_place_that_could_read_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="https"):
        web.choose({"RALPH_GITHUB_URL": "http://github.example/api/v3", "GITHUB_TOKEN": TOKEN}, tmp_path, 1)
    with pytest.raises(ConfigError) as caught:
        web.choose({"GITHUB_TOKEN": "two\nlines"}, tmp_path, 1)
    assert "two" not in caught.value.message


@pytest.mark.parametrize("typed", ["", "a", "a/", "a/..", "../b", "a/b/c", "a/b?c", "a b/c", "-a/b", "a/b#1"])
def test_only_a_repository_is_one(typed: str) -> None:
    assert repository_of(typed) == ""


def moved(office: Office, task_id: str, status: str, **more: str) -> None:
    changed(office, task_id, status=status, **more)


def done(office: Office, task_id: str) -> None:
    moved(office, task_id, "in_progress")
    moved(office, task_id, "done")


def changed(office: Office, task_id: str, **changes: str) -> None:
    office.book.append(Update(id=task_id, changes=dict(changes)))
