"""Which version of which file each pass sees."""

import pytest

from untilproven.checks.protected import Protected, Views, views_of
from untilproven.contract import Differs
from untilproven.guard.kinds import kind_of

CREATED, MODIFIED, DELETED = Differs(False, True), Differs(True, True), Differs(True, False)

KINDS = {
    "test": (
        *("tests/test_a.py", "test_a.py", "src/a_test.py", "app/tests.py", "tests/data/x.json", "tests/__init__.py"),
        *("src/a.test.ts", "src/a.spec.tsx", "__tests__/a.js", "src/__snapshots__/a.snap", "test/a.mjs", "a-test.js"),
        *("pkg/a_test.go", "pkg/testdata/in.txt", "tests/it.rs", "src/tests.rs", "src/test/java/a/B.java"),
        *("src/main/java/ATest.java", "a/BIT.java", "src/commonTest/kotlin/A.kt", "spec/a_spec.rb", "spec/fixtures/a"),
        *("tests/ATest.php", "App.Tests/A.cs", "AppTests/A.cs", "src/ATests.cs", "e2e/login.ts", "src/__mocks__/fs.js"),
        *("t/basic.t", "test/a.bats", "tests/a\nb", "tests/caf\udce9"),
    ),
    "configuration": (
        *("conftest.py", "tests/conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", ".coveragerc", "noxfile.py"),
        *("jest.config.js", "jest.config.ci.cjs", "vitest.config.ts", "vitest.workspace.ts", ".mocharc.json"),
        *("playwright.config.ts", "karma.conf.js", "phpunit.xml", "phpunit.xml.dist", ".rspec", "sitecustomize.py"),
        *("src/usercustomize.py", "a/evil.pth", "jest.setup.ts", "src/setupTests.js", "tsconfig.spec.json", ".nycrc"),
        *(".cargo/config.toml", ".mvn/maven.config", ".config/nextest.toml", "mypy.ini", "ruff.toml", ".eslintrc.json"),
        *("eslint.config.mjs", "testng.xml", "a.runsettings", ".npmrc"),
    ),
    "ci": (".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".travis.yml"),
    "mixed": (
        *("package.json", "pyproject.toml", "Makefile", "setup.cfg", "Cargo.toml", "go.mod", "sub/package.json"),
        *("requirements.txt", "pom.xml", "build.gradle.kts", "CMakeLists.txt", "tsconfig.json", "yarn.lock"),
        "A.csproj",
    ),
    "dependencies": (
        *(".venv/lib/python3.11/site-packages/pytest/__init__.py", "venv/bin/python", "env/bin/pytest", ".venv"),
        *("node_modules/jest/bin/jest.js", "a/node_modules/x", "vendor/autoload.php", ".tox/py/bin/x", "node_modules"),
    ),
    "cache": (
        *("src/__pycache__/a.cpython-311.pyc", "a.pyc", ".pytest_cache/v/cache/lastfailed", "a.tsbuildinfo"),
        *("node_modules/.cache/babel/x", ".mypy_cache/x", "target/debug/deps/a", "target/x86_64/release/a"),
        *("build/classes/A.class", "build/CMakeFiles/a", ".nyc_output/x", "tests/__pycache__/test_a.pyc"),
        "target/surefire-reports/TEST-a.xml",
    ),
    "source": (
        *("src/app.py", "README.md", "lib/testing.py", "contest.py", "src/latest.ts", "specs/plan.md", "attest/a.go"),
        *("src/main.rs", "env/settings.py", "build/webpack.js", "src/environment.ts", "protest.py", "fixtures/a.json"),
        *("src/types.py", "app/json.py", "Latests/a.c", "src/target/release_notes.md", "a.python"),
        *("src/main/java/a/TypeSpec.java", "core/src/jvmMain/kotlin/a/test/TestKit.kt", "src/main/scala/a/Specs.scala"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in KINDS.items() for path in paths])
def test_a_path_is_told_by_its_name(kind: str, path: str) -> None:
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    "path",
    [
        *(
            "pytest.py",
            "_pytest/__init__.py",
            "unittest/__init__.py",
            "pluggy/__init__.py",
            "json.py",
            "tests/random.py",
        ),
        *("pytest_evil.py", "re.so", "xdist/__init__.py"),
    ],
)
def test_a_new_module_in_the_way_of_a_runner_is_configuration(path: str) -> None:
    assert kind_of(path, is_new=True) == "configuration"
    assert kind_of(path) in {"source", "test"}, "one that was there is what the project is"


@pytest.mark.parametrize(
    "path", ["src/json.py", "app/types.py", "email/send.py", "code/train.py", "statistics.py", "tests/email/test_a.py"]
)
def test_a_name_that_nothing_is_taken_for_is_the_project_s_own(path: str) -> None:
    assert kind_of(path, is_new=True) in {"source", "test"}


def views(differing: dict[str, Differs], **more: object) -> Views:
    return views_of(differing, **more)  # type: ignore[arg-type]


def test_work_on_the_source_alone_needs_one_pass() -> None:
    found = views({"src/a.py": MODIFIED, "src/b.py": CREATED, "README.md": DELETED})
    assert found == Views(frozenset(), None, None, (), ())


def test_dependencies_and_caches_are_as_they_were_from_the_first_pass_on() -> None:
    differing = {".venv/x": CREATED, "__pycache__/a.pyc": MODIFIED, "src/a.py": MODIFIED, "uv.lock": MODIFIED}
    found = views(differing)
    assert found.first == {".venv/x", "__pycache__/a.pyc"}
    assert found.dependencies == (".venv/x",)
    allowed = views(differing, allow_dependency_changes=True)
    assert allowed.first == {"__pycache__/a.pyc"}


def test_what_is_protected_is_as_it_was_in_the_second_pass_and_what_is_new_is_absent() -> None:
    differing = {
        "tests/test_a.py": MODIFIED,
        "tests/test_b.py": DELETED,
        "tests/test_new.py": CREATED,
        "conftest.py": CREATED,
        ".github/workflows/ci.yml": MODIFIED,
        "check.sh": MODIFIED,
        "package.json": MODIFIED,
        "src/a.py": MODIFIED,
        ".venv/x": MODIFIED,
    }
    found = views(differing, lines=["./check.sh"])
    assert found.second == frozenset(differing) - {"package.json", "src/a.py"}
    assert found.protected == (
        Protected(".github/workflows/ci.yml", "ci", "modified"),
        Protected("check.sh", "script", "modified"),
        Protected("conftest.py", "configuration", "created"),
        Protected("tests/test_a.py", "test", "modified"),
        Protected("tests/test_b.py", "test", "deleted"),
    )


def test_a_new_script_alone_needs_no_second_pass() -> None:
    assert views({"check.sh": CREATED, "src/a.py": CREATED}, lines=["./check.sh"]).second is None


def test_new_tests_are_left_out_of_a_second_pass_but_not_their_data() -> None:
    found = views({"tests/test_new.py": CREATED, "tests/data.json": CREATED, "src/a.py": CREATED})
    assert found.second == frozenset({"tests/test_new.py"})


def test_where_there_was_no_test_new_ones_are_not_left_out() -> None:
    assert views({"tests/test_new.py": CREATED, "conftest.py": CREATED}, had_tests=False).second is None


def test_what_was_there_and_changed_is_held_to_even_if_no_test_could_be_seen() -> None:
    found = views({"tests/test_old.py": DELETED, "conftest.py": CREATED}, had_tests=False)
    assert found.second == frozenset({"tests/test_old.py", "conftest.py"})


def test_without_a_test_at_the_start_there_is_nothing_to_hold_the_work_to() -> None:
    differing = {"tests/test_new.py": CREATED, "conftest.py": CREATED}
    assert views(differing).second is not None
    assert views(differing, had_tests=False).second is None


@pytest.mark.parametrize("pattern", ["tests/api/**", "tests/api", "tests/api/", "tests/*/test_a.py", "**/test_a.py"])
def test_tests_that_may_be_edited_stay_the_agents(pattern: str) -> None:
    differing = {"tests/api/test_a.py": MODIFIED, "tests/test_b.py": MODIFIED}
    found = views(differing, allow_test_edits=[pattern])
    assert found.second == frozenset({"tests/test_b.py"})
    assert views({"tests/api/test_a.py": MODIFIED}, allow_test_edits=[pattern]).second is None


def test_new_tests_meet_the_source_as_it_was() -> None:
    differing = {
        "tests/test_new.py": CREATED,
        "tests/conftest.py": CREATED,
        "pyproject.toml": MODIFIED,
        "src/a.py": MODIFIED,
        "src/b.py": CREATED,
        ".venv/x": CREATED,
    }
    assert views(differing).baseline == frozenset({"src/a.py", "src/b.py", ".venv/x"})
    assert views({"tests/test_a.py": MODIFIED, "src/a.py": MODIFIED}).baseline == frozenset({"src/a.py"})
    assert views({"tests/test_a.py": DELETED, "src/a.py": MODIFIED}).baseline is None


def test_directories_that_tools_marked_before_the_loop_are_theirs() -> None:
    differing = {"out/program": MODIFIED, "py/bin/pytest": MODIFIED, "src/a.py": MODIFIED, "src/CACHEDIR.TAG": CREATED}
    found = views(differing, marks=["out/CMakeCache.txt", "py/pyvenv.cfg", "src/CACHEDIR.TAG"])
    assert found.first == {"out/program", "py/bin/pytest"}
    assert found.dependencies == ("py/bin/pytest",)


def test_a_program_of_the_tree_that_lines_put_on_the_path_is_a_script() -> None:
    found = views({"bin/mine": MODIFIED, "bin/grep": CREATED, "bin/new": CREATED}, lines=["PATH=./bin:$PATH", "mine"])
    assert [(one.path, one.kind) for one in found.protected] == [("bin/grep", "configuration"), ("bin/mine", "script")]
