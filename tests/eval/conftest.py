"""The evaluation is not installed: it is found from the project's root."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
