"""A project whose tasks are also issues of a GitHub on loopback."""

from collections.abc import Iterator

import pytest

from trackers.github import GitHubServer
from trackers.scenes import Office
from untilproven.store.layout import Project


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as one:
        yield one


@pytest.fixture
def office(project: Project, server: GitHubServer) -> Office:
    return Office(project, server)
