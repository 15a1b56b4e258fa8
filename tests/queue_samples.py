"""Files as the tools leave them that they belong to."""

from typing import NamedTuple


class Sample(NamedTuple):
    format: str
    path: str
    text: str
    titles: tuple[str, ...]
    done: tuple[str, ...]
    """The titles of the entries that the file calls done."""


PRD = Sample(
    "prd",
    "prd.json",
    """\
{
  "project": "Shop",
  "branchName": "ralph/basket",
  "description": "A basket — for the shop",
  "userStories": [
    {
      "id": "US-001",
      "title": "Store items in the basket",
      "description": "As a buyer, I want my items kept.",
      "acceptanceCriteria": [
        "A basket table exists",
        "npm test passes",
        "Typecheck passes"
      ],
      "priority": 1,
      "passes": true,
      "notes": "see the schema"
    },
    {
      "id": "US-002",
      "title": "Show the number of items",
      "description": "As a buyer, I want to see how many.",
      "acceptanceCriteria": ["`npx tsc --noEmit` passes"],
      "priority": 2,
      "passes": false,
      "notes": "",
      "dependsOn": ["US-001"]
    }
  ]
}
""",
    ("Store items in the basket", "Show the number of items"),
    ("Store items in the basket",),
)

STORIES = Sample(
    "stories",
    ".agents/tasks/prd-basket.json",
    """\
{
  "version": 1,
  "project": "Basket",
  "qualityGates": ["npm run lint", "npm test", "Looks good on a phone"],
  "stories": [
    {
      "id": "US-001",
      "title": "Add the model",
      "status": "done",
      "dependsOn": [],
      "description": "A model.",
      "acceptanceCriteria": ["Example: add(1) -> 1", "Negative case: add(null) fails"],
      "startedAt": "2026-01-20T10:00:00+00:00",
      "completedAt": "2026-01-20T11:00:00+00:00",
      "updatedAt": "2026-01-20T11:00:00+00:00"
    },
    {
      "id": "US-002",
      "title": "Add the page",
      "status": "open",
      "dependsOn": ["US-001"],
      "acceptanceCriteria": ["The page is there"],
      "startedAt": null,
      "completedAt": null,
      "updatedAt": null
    }
  ]
}
""",
    ("Add the model", "Add the page"),
    ("Add the model",),
)

QUEUE = Sample(
    "queue",
    ".ralph/queue.jsonc",
    """\
{
  // kept by hand
  "version": 1,
  "tasks": [
    {
      "id": "RQ-0007",
      "status": "doing",
      "title": "Refresh the dependencies",
      "description": "All of them.",
      "priority": "high",
      "tags": ["deps"],
      "scope": ["Cargo.toml"],
      "evidence": ["The lock file is old"],
      "plan": ["Update", "Test"],
      "notes": [],
      "created_at": "2026-04-27T13:56:36Z",
      "updated_at": "2026-04-27T13:59:11Z",
      "depends_on": ["RQ-0001"],
      "blocks": [],
      "custom_fields": {"kind": "chore"},
    },
    {
      "id": "RQ-0008",
      "status": "todo", /* next */
      "title": "Write it down",
      "priority": "low",
      "depends_on": ["RQ-0007"]
    },
    {"id": "RQ-0009", "status": "rejected", "title": "Rewrite it all"}
  ]
}
""",
    ("Refresh the dependencies", "Write it down", "Rewrite it all"),
    (),
)

ISSUES = Sample(
    "issue-queue",
    ".ralph/queue.json",
    """\
{
  "version": "1.0",
  "repository": "owner/shop",
  "queue": [
    {
      "id": "github-69",
      "source": "github",
      "issue_number": 69,
      "title": "Login times out",
      "priority": "P0",
      "labels": [{"name": "bug"}, {"name": "P0"}],
      "dependencies": [],
      "status": "completed",
      "completed_at": "2026-02-01T10:00:00Z"
    },
    {
      "id": "github-70",
      "source": "github",
      "issue_number": 70,
      "title": "Remember me",
      "priority": "",
      "labels": ["feature"],
      "dependencies": [69, 12],
      "status": "failed"
    },
    {"id": "prd-docs-md", "source": "prd", "path": "docs/feature.md", "title": "Feature", "status": "pending"}
  ]
}
""",
    ("Login times out", "Remember me", "Feature"),
    ("Login times out",),
)

RALPHY_JSON = Sample(
    "ralphy-json",
    "tasks.json",
    """\
{
  "tasks": [
    { "title": "Create the user model", "completed": true, "parallel_group": 1, "description": "With a name" },
    { "title": "Create the post model", "parallel_group": 1 },
    { "title": "Add relations", "completed": false, "parallel_group": 2 }
  ]
}
""",
    ("Create the user model", "Create the post model", "Add relations"),
    ("Create the user model",),
)

RALPHY_YAML = Sample(
    "ralphy-yaml",
    "tasks.yaml",
    """\
# ours
tasks:
  - title: Create the user model
    completed: true
    parallel_group: 1
  - title: "Create the post model: all of it"
    parallel_group: 1   # runs together
    description: |
      First this,
        then that.

  - title: Add relations
    completed: false
    parallel_group: 2
""",
    ("Create the user model", "Create the post model: all of it", "Add relations"),
    ("Create the user model",),
)

AUTOLOOP = Sample(
    "autoloop",
    ".autoloop/tasks.jsonl",
    """\
{"id":"task-1","type":"task","text":"Fix the parser","status":"open","source":"manual","created":"2026-03-01T10:00:00Z"}
{"id":"task-2","type":"task","text":"Write docs","status":"open","priority":"low","soft":true,"tags":["a",{"b":null}]}
{"id":"task-3","type":"task","text":"Never mind","status":"open","source":"manual"}
{"id":"ts-1","type":"task-tombstone","target_id":"task-3","reason":"dropped"}
{"id":"task-1","type":"task","text":"Fix the parser","status":"done","completed":"2026-03-02T10:00:00Z"}
""",
    ("Fix the parser", "Write docs"),
    ("Fix the parser",),
)

WIGGUM = Sample(
    "wiggum",
    ".ralph/ralph-tasks.md",
    """\
# Ralph Tasks

- [x] Set up the project
- [/] Add the API
  - [x] Read
  - [ ] Write
- [ ] Add the page
""",
    ("Set up the project", "Add the API", "Add the page"),
    ("Set up the project",),
)

PLAN = Sample(
    "plan",
    "docs/plans/20260324-idle-timeout.md",
    """\
# An idle timeout

## Overview

Ends a session that says nothing.

- [ ] this box is nobody's task

## Validation Commands

- `go test ./...`
- `golangci-lint run`
- everything looks fine

## Implementation Steps

### Task 1: Add the timer

**Files:**
- Modify: `pkg/executor.go`

- [x] add the field
- [x] run `go test ./pkg/executor/...` — must pass before next task

### Task 2: Wire it

```text
- [ ] not a box, but an example
### Task 9: nor a task
```

- [ ] add the flag
- [ ] write the tests

### Task 3: [Final] Update the documents

- [ ] update the README
""",
    ("Add the timer", "Wire it", "[Final] Update the documents"),
    ("Add the timer",),
)

FIX_PLAN = Sample(
    "checklist",
    ".ralph/fix_plan.md",
    """\
# Ralph Fix Plan

## High Priority
- [ ] Set up the structure
- [ ] **US-7** Define the formats
    With a second line about it.
    - [ ] JSON is read
    - [ ] `make test` passes

## Medium Priority
* [X] Write the tests

## Completed
- [x] Begin

<!-- - [ ] commented out -->

## Notes
- No box here
```
- [ ] an example
```
""",
    ("Set up the structure", "Define the formats", "Write the tests", "Begin"),
    ("Write the tests", "Begin"),
)

WRITABLE = (PRD, STORIES, QUEUE, ISSUES, RALPHY_JSON, RALPHY_YAML, AUTOLOOP, WIGGUM, PLAN, FIX_PLAN)

CLAUDE = Sample(
    "claude-loop",
    ".claude/ralph-loop.local.md",
    """\
---
active: true
iteration: 3
session_id: 0b9a
max_iterations: 20
completion_promise: "DONE"
started_at: "2026-01-15T10:00:00Z"
---

Make the parser read nested lists.

Say <promise>DONE</promise> when it does.
""",
    ("Make the parser read nested lists.",),
    (),
)

ALL = (*WRITABLE, CLAUDE)
