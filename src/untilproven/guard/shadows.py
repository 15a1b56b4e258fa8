"""Modules that a test runner loads: a new file of that name in the tree would be taken for them."""

import re

_RUNNERS = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "xdist", "execnet"}
    | {"coverage", "nose", "nose2", "hypothesis", "mock", "pygments", "unittest", "doctest", "sitecustomize"}
    | {"usercustomize", "setuptools", "pkg_resources"}
)
_LIBRARY = frozenset(
    {"__future__", "abc", "argparse", "array", "ast", "asyncio", "atexit", "base64", "bdb", "binascii", "bisect", "bz2"}
    | {"calendar", "codecs", "collections", "concurrent", "contextlib", "contextvars", "copy"}
    | {"copyreg", "csv", "dataclasses", "datetime", "decimal", "difflib", "dis", "email", "encodings", "enum", "errno"}
    | {"faulthandler", "fnmatch", "functools", "gc", "genericpath", "gettext", "glob", "hashlib", "heapq"}
    | {"html", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache", "locale"}
    | {"logging", "lzma", "marshal", "math", "numbers", "opcode", "operator", "os", "pathlib", "pkgutil"}
    | {"platform", "posixpath", "pprint", "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "runpy"}
    | {"select", "selectors", "shlex", "shutil", "signal", "site", "socket", "ssl", "stat", "string", "struct"}
    | {"subprocess", "sys", "tempfile", "textwrap", "threading", "time", "token", "tokenize", "traceback", "types"}
    | {"typing", "unicodedata", "urllib", "uuid", "warnings", "weakref", "xml", "zipfile", "zipimport", "zlib"}
)
"""What pytest and unittest load before the first test: nobody can use such a name for work of their own and have it
found, so taking it away costs honest work nothing. Other names of the standard library are left alone."""

_MODULE = r"(?:(?:tests?/)?([A-Za-z_]\w*)|([A-Za-z_]\w*)/__init__)\.(?:py|so|abi3\.so|cpython-[\w-]+\.so)"
_PLUGIN = r"pytest_\w+"


def shadows_a_runner(path: str) -> bool:
    """Only from a directory where modules are looked for; within a package a name is its own, and a directory that is
    no package gives way to any module."""
    found = re.fullmatch(_MODULE, path)
    if not found:
        return False
    name = found[1] or found[2]
    return name in _RUNNERS or name in _LIBRARY or bool(re.fullmatch(_PLUGIN, name))
