"""The walls of a room: what is layered, what is hidden, what stays as it is."""

import os
import stat
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.process.walls import Layer, Walls
from untilproven.store.layout import Project
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay import surroundings
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.repository import Repository

CLOSED = Openings()
EXCHANGE = "ralph-exchange"
INSIDE = Path("/tmp") / EXCHANGE  # noqa: S108  the room's own


def for_agent(
    project: Project, place: Place, repository: Repository, iteration: int, openings: Openings = CLOSED
) -> Walls:
    """The agent's: it may write to the project and to HOME, and nothing of that is where the user's is."""
    root, own = str(project.root), place.agent_home
    layers = []
    home = surroundings.home()
    if home and not _is_within(home, root):
        layers.append(Layer(str(home), (str(home),), *place.make_home(home)))
    layers.append(Layer(root, (root,), *place.make_iteration(iteration, project.root), renames=True))
    has_repository = repository.exists
    if has_repository:
        layers.append(repository.layer(iteration))
    walls = _walls(project, place, home, tuple(layers), place.given.temporary, openings)
    return walls._replace(
        shared=(str(INSIDE), *walls.shared),
        readonly=repository.protected if has_repository else (repository.path,),
        given=(*walls.given, *([own] if os.path.isdir(own) else [])),  # noqa: PTH112  done for every room
        lasting=int(layers[0].target != root),
        name="agent",
    )


def for_check(project: Project, place: Place, *above: Path, openings: Openings = CLOSED) -> Walls:
    """A check's: the project with these layers over it, HOME as the user has it, and nothing it writes stays, neither
    here nor there: a runner that cannot write to its cache does not run."""
    root = str(project.root)
    layers = [Layer(root, (*map(str, above), root), *place.given.check(project.root, place.work_of_check()))]
    home, lasts = surroundings.home(), False
    if home and not _is_within(home, root):
        upper, work, lasts = place.given.home_of_check(home)
        layers.insert(0, Layer(str(home), (str(home),), upper, work))
    walls = _walls(project, place, home, tuple(layers), place.given.temporary_of_check(), openings)
    return walls._replace(network=openings.check_network, lasting=int(lasts), name="check")


def _walls(
    project: Project, place: Place, home: Path | None, layers: tuple[Layer, ...], temporary: Path, openings: Openings
) -> Walls:
    root = str(project.root)
    places = surroundings.places(project, home)
    for path in places:
        if f"{root}/".startswith(f"{path}/"):
            raise RalphError(
                f"no room can be built around {root}: it lies in {path}, which rooms do not show",
                hint="move the project, or run with --sandbox none",
            )
    layered = tuple(f"{layer.target}/" for layer in layers)
    sockets = tuple(surroundings.sockets(places))
    dead = {path for path in sockets if path.startswith(layered) and _is_socket(path)}
    given = openings.paths(os.environ, home)
    uncovered = dead.union(given)
    return Walls(
        layers=layers,
        temporary=str(temporary),
        place=str(place.path),
        hidden=tuple(path for path in dict.fromkeys((*places, *sockets)) if path not in uncovered),
        shared=_pinned(root, (*places, *sockets)),
        given=given,
        shown=surroundings.shown(project.root, openings.named),
        network=openings.network,
    )


def _is_within(path: Path, root: str) -> bool:
    return f"{path}/".startswith(f"{root.rstrip('/')}/")


def _is_socket(path: str) -> bool:
    """Through a layer nobody can connect to one that lies beneath it."""
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116  done for every room
    except OSError:
        return False


def _pinned(root: str, hidden: tuple[str, ...]) -> tuple[str, ...]:
    """Directories of the project with something hidden in them: renamed, they would show it to the next room."""
    found = set()
    for path in hidden:
        if path.startswith(f"{root}/") and os.path.exists(path):  # noqa: PTH110  done for every room
            while len(path := os.path.dirname(path)) > len(root):  # noqa: PTH120  the same
                found.add(path)
    return tuple(sorted(found))
