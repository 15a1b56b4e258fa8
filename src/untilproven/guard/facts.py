"""What is known of a source file: its tests, its functions, and what it says to tools.

What is inside a test or a function is read only where its text differs.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import cached_property

import msgspec
from ast_grep_py import SgNode


class Running(IntEnum):
    """Whether a test is run; the lower, the less."""

    NEVER = 0
    """Skipped, expected to fail, or focused away."""
    SOMETIMES = 1
    """Skipped under a condition about the machine, the platform or a version."""
    ALWAYS = 2


class Strength(IntEnum):
    """What an assertion rules out."""

    NOTHING = 0
    """It holds whatever the code does: `assert True`, `expect(1).toBe(1)`, `x or True`, the same call on both sides."""
    SOMETHING = 1
    """Truth, not null, defined, of a type, does not raise."""
    PARTLY = 2
    """Contains, is about, is more than, has a length, was called, raises anything."""
    EXACTLY = 3
    """Equals, raises this error, matches this snapshot."""


class Assertion(msgspec.Struct, frozen=True):
    text: str
    """As written, white space collapsed."""
    about: str
    """What it looks at: the actual value, as written, white space collapsed."""
    strength: Strength
    line: int
    expected: str | None = None
    """The value it compares with, as written, if it compares with one."""
    tolerance: float | None = None
    """How far from `expected` still passes, if it says so."""
    error: str | None = None
    """Which error it expects, if it expects one; `message` of it is part of `expected`."""


class Test(msgspec.Struct, frozen=True):
    """What is inside a test. Assertions that can not fail are not listed: behind an unconditional return or exit, or
    inside a handler that swallows their error."""

    running: Running
    assertions: tuple[Assertion, ...]
    reason: str | None = None
    """Why it is skipped, or under which condition."""
    cases: tuple[str, ...] = ()
    """The cases of a test with parameters or of a table, as written."""
    is_given: bool = False
    """A runner gives it what it takes, and it is not written which values."""
    mocks: tuple[str, ...] = ()
    """What it replaces, as named: a dotted path, a module, an object's method."""
    unreached: int = 0
    """Assertions not listed because they can not fail."""
    leaves: str | None = None
    """The statement by which it ends before its last assertion, or ends the whole run: `return`, `sys.exit(0)`."""
    retries: int | None = None
    timeout: float | None = None
    """In seconds."""


class Handler(msgspec.Struct, frozen=True):
    """Of errors."""

    errors: str
    """As written; empty for every error."""
    is_broad: bool
    """Every error, or nearly."""
    is_silent: bool
    """Does nothing with it: no call, no raise, no value of its own; at most a pass, a return of nothing, a comment."""
    line: int
    leaves: bool | None = None
    """It returns, and so what stands behind it is not done; None if nothing does, or if that is not known."""


class Function:
    """What is inside a function that is no test. Each is read when it is first asked for: what a function does not do
    now, nobody looks for in what it did."""

    def __init__(
        self,
        *,
        guards: Iterable[str] = (),
        raises: Iterable[str] = (),
        handlers: Iterable[Handler] = (),
        stub: Callable[[], str | None] = lambda: None,
        left_open: Callable[[], str | None] = lambda: None,
        answers: Iterable[str] = (),
        asks_if_tested: Iterable[str] = (),
        returns_nothing: Callable[[], int] = lambda: 0,
        always_equal: Callable[[], bool] = lambda: False,
    ) -> None:
        self._guards, self._raises, self._handlers = guards, raises, handlers
        self._stub, self._left_open = stub, left_open
        self._answers, self._asks_if_tested = answers, asks_if_tested
        self._returns_nothing, self._always_equal = returns_nothing, always_equal

    @cached_property
    def guards(self) -> tuple[str, ...]:
        """Conditions under which it refuses: what an `if` that only raises, throws or returns an error asks, or a call
        of a validating or sanitizing function, as written."""
        return tuple(self._guards)

    @cached_property
    def raises(self) -> tuple[str, ...]:
        """Errors that it raises, throws or returns, by name."""
        return tuple(self._raises)

    @cached_property
    def handlers(self) -> tuple[Handler, ...]:
        return tuple(self._handlers)

    @cached_property
    def stub(self) -> str | None:
        """What stands in place of a body: `pass`, `raise NotImplementedError`, `todo!()`, `panic("unimplemented")`."""
        return self._stub()

    @cached_property
    def left_open(self) -> str | None:
        """The same where others are meant to write the body: in an interface, in a hook."""
        return self._left_open()

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """Inputs that it compares a parameter with, or looks up in a table written in it, and returns a literal for."""
        return tuple(self._answers)

    @cached_property
    def asks_if_tested(self) -> tuple[str, ...]:
        """Conditions about being under test, in CI, or of a test's own data: `"pytest" in sys.modules`, `NODE_ENV`."""
        return tuple(self._asks_if_tested)

    @cached_property
    def returns_nothing(self) -> int:
        """How often it returns null, None, nil or an empty value by itself."""
        return self._returns_nothing()

    @cached_property
    def always_equal(self) -> bool:
        """It decides equality, and says yes without looking."""
        return self._always_equal()


class Declaration(msgspec.Struct, frozen=True, eq=False):
    """A test or a function as it stands in a file: enough to find its counterpart in the other version."""

    name: str
    """Qualified within the file: `TestCart::test_total`, `cart > adds up`, `Cart.total`."""
    node: SgNode
    """Decorators, attributes and annotations included."""
    is_test: bool
    """A runner would collect it."""

    @property
    def text(self) -> str:
        return self.node.text()

    @property
    def line(self) -> int:
        return self.node.range().start.line + 1


class Commented(msgspec.Struct, frozen=True):
    """Code in a comment."""

    text: str
    line: int
    lines: int
    is_test: bool
    """It declares a test."""


class Facts:
    """Of a whole file. Each is read when it is first asked for: of most files nobody asks for all."""

    def __init__(
        self,
        *,
        declarations: Iterable[Declaration] = (),
        suppressions: Iterable[str] = (),
        todos: Iterable[str] = (),
        commented: Iterable[Commented] = (),
        hooks: Iterable[str] = (),
        exits: Iterable[str] = (),
        flags: Iterable[tuple[str, bool]] = (),
        asks_if_tested: Iterable[str] = (),
    ) -> None:
        self._declarations, self._commented = declarations, commented
        self._suppressions, self._todos = suppressions, todos
        self._hooks, self._exits = hooks, exits
        self._flags, self._asks_if_tested = flags, asks_if_tested

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        return tuple(self._declarations)

    @cached_property
    def suppressions(self) -> tuple[str, ...]:
        """Comments and attributes that silence a linter or a type checker, as written: `# noqa: F401`, `@ts-ignore`."""
        return tuple(self._suppressions)

    @cached_property
    def todos(self) -> tuple[str, ...]:
        """TODO, FIXME, HACK, XXX comments, as written."""
        return tuple(self._todos)

    @cached_property
    def commented(self) -> tuple[Commented, ...]:
        return tuple(self._commented)

    @cached_property
    def hooks(self) -> tuple[str, ...]:
        """What takes hold of a test run when this is loaded: collection hooks, patched assertions, global setup."""
        return tuple(self._hooks)

    @cached_property
    def exits(self) -> tuple[str, ...]:
        """Statements outside of functions, or in what tests load, that end the process: `os._exit(0)`."""
        return tuple(self._exits)

    @cached_property
    def flags(self) -> tuple[tuple[str, bool], ...]:
        """Names set to true or false at the top level."""
        return tuple(self._flags)

    @cached_property
    def asks_if_tested(self) -> tuple[str, ...]:
        """As in Function, outside of functions."""
        return tuple(self._asks_if_tested)
