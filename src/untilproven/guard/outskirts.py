"""Paths beside the product: what nobody who uses it ever runs."""

import re
from functools import lru_cache

_BESIDE = re.compile(
    r"(?:^|/)(?:examples?|demos?|samples?|playgrounds?|bench(?:es|marks?|marking)?|perf(?:ormance)?(?:[-_]\w+)?|website|docs?"
    r"|\.storybook|storybook|(?:spec|tests?)[-_]?(?:helpers?|utils?|support|doubles?)|mocks?|stubs?|fakes?)/"
)
_TOOLS = r"webpack|rollup|esbuild|tsup|babel|postcss|metro|next|nuxt|gatsby|docusaurus|astro|svelte|vue|eslint|prettier"
_TOOLING = re.compile(
    rf"(?:.*/)?(?:[\w.-]+\.config(?:\.[\w-]+)*\.[cm]?[jt]sx?|\.[\w-]+rc\.[cm]?[jt]s|(?:{_TOOLS})[\w.-]*\.[cm]?[jt]s"
    r"|(?:gulp|grunt|jake)file(?:\.\w+)*\.[cm]?[jt]s|(?:noxfile|fabfile|conf)\.py)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_beside(path: str) -> bool:
    """Whether it is an example, a benchmark, a site about the product, or something that only tests use."""
    return _BESIDE.search(path) is not None


@lru_cache(maxsize=4096)
def is_tooling(path: str) -> bool:
    """Whether it tells a tool what to do: a bundler, a compiler, a generator of documentation."""
    return _TOOLING.fullmatch(path) is not None
