"""A stand-in for Beads' `bd`, as its documentation says: the verbs that are used, with `--json` and its envelope."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

STORE = Path(".beads/stand-in.json")


def fail(why: str, code: str) -> NoReturn:
    sys.stderr.write(json.dumps({"schema_version": 1, "error": why, "code": code}) + "\n")
    sys.exit(1)


def show(payload: Any) -> None:
    enveloped = os.environ.get("BD_JSON_ENVELOPE") == "1" and not os.environ.get("BD_STAND_IN_OLD")
    sys.stdout.write(json.dumps({"schema_version": 1, "data": payload} if enveloped else payload) + "\n")


if not STORE.exists():
    fail("no beads database found", "no_database")
issues: dict[str, dict[str, Any]] = json.loads(STORE.read_text())
with Path(".beads/calls.log").open("a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\n")
parser = argparse.ArgumentParser(exit_on_error=False)
verbs = parser.add_subparsers(dest="verb", required=True)
for name in ("list", "create", "show", "update", "close", "comments"):
    verb = verbs.add_parser(name)
    verb.add_argument("--json", action="store_true", required=True)
    if name == "list":
        verb.add_argument("--all", action="store_true")
        verb.add_argument("--limit", type=int, default=50)
    if name in {"show", "update", "close"}:
        verb.add_argument("id")
    if name in {"create", "update"}:
        verb.add_argument("--title")
        verb.add_argument("--priority", type=int, default=2)
        verb.add_argument("--body-file")
        verb.add_argument("--status")
    if name == "close":
        verb.add_argument("--reason", default="")
    if name == "comments":
        verb.add_argument("words", nargs="+")
given = parser.parse_args()


def issue(key: str) -> dict[str, Any]:
    return issues[key] if key in issues else fail(f"issue not found: {key}", "not_found")


def without_comments(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "comments"}


match given.verb:
    case "list":
        found = [one for one in issues.values() if given.all or one["status"] != "closed"]
        show([without_comments(one) for one in (found[: given.limit] if given.limit else found)])
    case "create":
        key = f"bd-{len(issues) + 1:x}"
        text = sys.stdin.read() if given.body_file == "-" else ""
        issues[key] = {
            "id": key,
            "title": given.title,
            "description": text,
            "status": "open",
            "priority": given.priority,
            "issue_type": "task",
            "comments": [],
        }
        show(without_comments(issues[key]))
    case "show":
        show([without_comments(issue(given.id))])
    case "update":
        changed = issue(given.id)
        if given.body_file == "-":
            changed["description"] = sys.stdin.read()
        changed |= {name: value for name in ("title", "status") if (value := getattr(given, name)) is not None}
        show([without_comments(changed)])
    case "close":
        issue(given.id).update(status="closed", close_reason=given.reason)
        show([without_comments(issues[given.id])])
    case "comments" if given.words[0] == "add":
        said = {"id": "1", "issue_id": given.words[1], "text": given.words[2]}
        issue(given.words[1])["comments"].append(said)
        show(said)
    case "comments":
        show(issue(given.words[0])["comments"])
STORE.write_text(json.dumps(issues))
