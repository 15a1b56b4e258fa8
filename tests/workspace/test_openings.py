"""What the user opens in the walls."""

from pathlib import Path

from untilproven.model.plan import Plan
from untilproven.workspace.openings import Openings, openings_of


def test_the_checks_have_the_agents_network_unless_they_are_given_another() -> None:
    assert openings_of(Plan(agent="a", task_hash="h")).check_network
    assert not openings_of(Plan(agent="a", task_hash="h", network="none")).check_network
    apart = openings_of(Plan(agent="a", task_hash="h", network="none", check_network="shared"))
    assert (apart.network, apart.check_network) == (False, True)


def test_what_is_shared_by_name_brings_the_variables_that_lead_to_it() -> None:
    opened = Openings(share=("ssh-agent", "docker"), env=("DATABASE_PASSWORD",))
    assert opened.variables == {"SSH_AUTH_SOCK", "SSH_AGENT_PID", "DOCKER_HOST", "CONTAINER_HOST", "DATABASE_PASSWORD"}


def test_only_what_is_there_can_be_shared(tmp_path: Path) -> None:
    (tmp_path / "agent.sock").touch()
    (tmp_path / ".gnupg").mkdir()
    environ = {"SSH_AUTH_SOCK": str(tmp_path / "agent.sock"), "XDG_RUNTIME_DIR": str(tmp_path / "nowhere")}
    opened = Openings(share=("ssh-agent", "gpg", "~/missing", str(tmp_path)))
    assert opened.paths(environ, tmp_path) == (
        str(tmp_path / "agent.sock"),
        str(tmp_path / ".gnupg"),
        str(tmp_path),
    )


def test_a_link_is_shared_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert Openings(share=(str(tmp_path / "link"),)).paths({}, None) == (str(tmp_path / "there"),)
