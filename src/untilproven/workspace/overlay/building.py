"""The walls of a room: what is layered, what is hidden, what stays as it is."""

from pathlib import Path

from untilproven.errors import RalphError
from untilproven.process.walls import Layer, Walls
from untilproven.store.layout import Project
from untilproven.workspace.overlay import surroundings
from untilproven.workspace.overlay.place import Place, make_layer, make_temporary
from untilproven.workspace.overlay.repository import Repository

EXCHANGE = "ralph-exchange"
INSIDE = Path("/tmp") / EXCHANGE  # noqa: S108  the room's own


def for_agent(project: Project, place: Place, repository: Repository, iteration: int) -> Walls:
    """The agent's: it may write to the project and to HOME, and nothing of that is where the user's is."""
    root = str(project.root)
    layers = []
    home = surroundings.home()
    if home and not home.is_relative_to(project.root):
        layers.append(Layer(str(home), (str(home),), *make_layer(place.home, home)))
    layers.append(Layer(root, (root,), *make_layer(place.iteration(iteration), project.root), renames=True))
    if repository.exists:
        layers.append(repository.layer(iteration))
    return _walls(project, tuple(layers), str(place.temporary), (str(INSIDE),), repository.protected)


def for_check(project: Project, place: Place, candidate: Path | None) -> Walls:
    """A check's: the candidate tree, HOME as the user has it, and nothing it writes stays."""
    root = str(project.root)
    place.drop(place.check)
    lower = (str(candidate), root) if candidate else (root,)
    layer = Layer(root, lower, *make_layer(place.check, project.root))
    temporary = place.check / "tmp"
    make_temporary(temporary)
    return _walls(project, (layer,), str(temporary), (), ())


def _walls(
    project: Project, layers: tuple[Layer, ...], temporary: str, shared: tuple[str, ...], readonly: tuple[str, ...]
) -> Walls:
    hidden = surroundings.hidden(project)
    for path in hidden:
        if project.root.is_relative_to(path):
            raise RalphError(
                f"no room can be built around {project.root}: it lies in {path}, which rooms do not show",
                hint="move the project, or run with --sandbox none",
            )
    layered = tuple(f"{layer.target}/" for layer in layers)
    return Walls(
        layers=layers,
        temporary=temporary,
        hidden=tuple(path for path in hidden if not _is_dead_socket(path, layered)),
        shared=(*shared, *_pinned(project.root, hidden)),
        readonly=readonly,
    )


def _is_dead_socket(path: str, layered: tuple[str, ...]) -> bool:
    """Through a layer nobody can connect to a socket that lies beneath it."""
    return path.startswith(layered) and Path(path).is_socket()


def _pinned(root: Path, hidden: tuple[str, ...]) -> tuple[str, ...]:
    """Directories of the project with something hidden in them: renamed, they would show it to the next room."""
    found = {
        str(parent)
        for path in hidden
        if Path(path).is_relative_to(root) and Path(path).exists()
        for parent in Path(path).parents
        if parent != root and parent.is_relative_to(root)
    }
    return tuple(sorted(found))
