"""What a check finds around it: programs that the agent could not put there, and no key of the agent's."""

import os
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from untilproven.guard.kinds import is_dependency

_OF_AGENTS = (
    *("AIDER_", "AMP_", "ANTHROPIC_", "AZURE_OPENAI_", "CEREBRAS_", "CLAUDE_", "CODESTRAL_", "CODEX_", "COHERE_"),
    *("COPILOT_", "CURSOR_", "DASHSCOPE_", "DEEPSEEK_", "FIREWORKS_", "GEMINI_", "GOOGLE_GENAI_", "GROQ_", "LITELLM_"),
    *("MISTRAL_", "MOONSHOT_", "OLLAMA_API_KEY", "OPENAI_", "OPENCODE_", "OPENROUTER_", "PERPLEXITY_", "QWEN_"),
    *("REPLICATE_API_", "TOGETHER_", "XAI_", "ZAI_", "ZHIPU_"),
)
_NAMED = frozenset({"CLAUDECODE", "GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "HUGGINGFACE_API_KEY"})
_OURS = "RALPH_"
_MARK = "RALPH_KEEPER"
"""By this a runner around this one finds what it has started."""
_READ_BY_SHELLS = ("BASH_ENV", "ENV")
_ALWAYS = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python takes a compiled file for current if size and second of the source are the same: agents edit faster.

PYTHONPYCACHEPREFIX would keep it from reading those that are there too, but also those of the standard library:
that costs each start of pytest more than two seconds. Compiled files in the tree are as they were instead.
"""


def environment_for_checks(env: Mapping[str, str], root: Path, passed: Collection[str] = ()) -> dict[str, str]:
    """The room's environment without what belongs to an agent, and without programs of the tree, except for those of
    installed dependencies, which are as they were. What is `passed` comes in whatever it is called."""
    kept = {name: value for name, value in env.items() if name in passed or not _stays_out(name)}
    if "PATH" in kept:
        kept["PATH"] = _without_tree(kept["PATH"], root)
    for name in _READ_BY_SHELLS:
        if name in kept and name not in passed and (not kept[name].startswith("/") or any(_in_tree(kept[name], root))):
            del kept[name]
    return {**kept, **_ALWAYS}


def _stays_out(name: str) -> bool:
    if name.startswith(_OURS):
        return name != _MARK
    return is_of_agents(name)


def is_of_agents(name: str) -> bool:
    """Whether a variable belongs to an agent, or to the provider of its model."""
    return name in _NAMED or name.startswith(_OF_AGENTS)


@lru_cache(maxsize=8)
def _without_tree(path: str, root: Path) -> str:
    """Found out once: nobody in a room can change where a link outside of it leads."""
    return ":".join(place for place in path.split(":") if _holds_programs(place, root)) or os.defpath


def _holds_programs(place: str, root: Path) -> bool:
    """A relative place would be another one in every directory, and an empty one is the directory itself."""
    return place.startswith("/") and all(is_dependency(path) for path in _in_tree(place, root))


def _in_tree(place: str, root: Path) -> Iterator[str]:
    """Where in the tree a place lies, by its words and by where links lead."""
    for path, top in ((_normal(place), _normal(str(root))), (Path(place).resolve(), root.resolve())):
        if path.is_relative_to(top):
            yield str(path.relative_to(top))


def _normal(place: str) -> PurePosixPath:
    """Without `.` and `..`."""
    return PurePosixPath(os.path.normpath(place))
