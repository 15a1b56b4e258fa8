"""How often the guard is wrong about honest commits, and how much tampering it sees. `make eval-guard`."""

import argparse
import signal
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec

from eval import regex
from eval.history import Missing, Repository
from eval.honest import look
from eval.report import lines
from eval.results import Caught, Results, targets
from eval.seeded import Seeded, noticed, sow
from eval.verdicts import FILE as VERDICTS
from eval.verdicts import Verdicts
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding
from untilproven.guard.judging import judge
from untilproven.workspace.git.running import GitFailed

HERE = Path(__file__).parents[1]


def findings(changes: tuple[Change, ...], task: str) -> tuple[Finding, ...]:
    return judge(changes, task=task, reviewed=True).findings


def sight(changes: tuple[Change, ...], task: str) -> Counter[tuple[str, int]]:
    return Counter((one.id, int(one.severity)) for one in findings(changes, task))


def caught(seeded: Seeded) -> Caught:
    unasked, asked, crashed = 0, 0, ""
    try:
        unasked = noticed(seeded, sight, "")
        asked = noticed(seeded, sight, seeded.commit.message)
    except Exception as error:  # noqa: BLE001  a guard that falls over is a result, too
        crashed = f"{type(error).__name__}: {error}"
    return Caught(
        repository=seeded.commit.repository,
        hash=seeded.commit.hash,
        language=seeded.language,
        kind=seeded.kind,
        path=seeded.path,
        unasked=unasked,
        asked=asked,
        regex=noticed(seeded, regex.sight, ""),
        difference=seeded.difference,
        crashed=crashed,
    )


def measure(path: Path, results: Results, *, newest: int, tampered: int, seed: int) -> None:
    with Repository(path) as repository:
        commits = list(repository.commits(newest))
        small = [commit for commit in commits if not commit.is_too_large]
        results.left_out += len(commits) - len(small)
        print(f"{repository.name}: {len(small)} commits", file=sys.stderr, flush=True)
        for commit in small:
            try:
                results.seen.append(look(repository, commit, findings))
            except Missing:
                results.missing += 1
        for seeded in sow(repository, small, tampered, seed):
            results.caught.append(caught(seeded))


def repositories() -> list[Path]:
    """This one, and what was put beside this file."""
    beside = Path(__file__).parent / "repositories"
    found = [one for one in sorted(beside.glob("*")) if (one / "HEAD").is_file() or (one / ".git").exists()]
    return [HERE, *found]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repositories",
        nargs="+",
        type=Path,
        help="git directories, bare or not; else this one, and what is in eval/repositories",
    )
    parser.add_argument("--commits", type=int, default=300, help="the newest so many of each (300)")
    parser.add_argument("--seeded", type=int, default=200, help="so many are tampered with, in each (200)")
    parser.add_argument("--seed", type=int, default=1, help="which ones and how (1)")
    parser.add_argument("--json", type=Path, help="also write every result there")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results = Results()
    judge(())
    interrupted = False
    try:
        for path in asked.repositories or repositories():
            measure(path, results, newest=asked.commits, tampered=asked.seeded, seed=asked.seed)
    except KeyboardInterrupt:
        interrupted = True
    except GitFailed as error:
        print(error, file=sys.stderr)
        return 2
    verdicts = Verdicts.of(VERDICTS)
    for line in lines(results, verdicts):
        print(line)
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    if interrupted:
        print("Interrupted: this is what there was until then.")
        return 130
    return 1 if results.crashes or not all(target.is_met for target in targets(results, verdicts)) else 0


if __name__ == "__main__":
    sys.exit(main())
