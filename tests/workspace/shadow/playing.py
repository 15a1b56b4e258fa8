"""Which scenes there are, and how one is played."""

import re
from collections.abc import Callable
from pathlib import Path

SCENES = Path(__file__).parent / "scenes"

Play = Callable[[str, str], None]


def scenes_of(file: str) -> list[str]:
    return re.findall(r"^def (\w+)\(base: Path\)", (SCENES / f"{file}.py").read_text(), re.MULTILINE)
