"""The published schemas and their examples, as a strict validator reads them."""

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

_DATA = Path(__file__).parent / "data" / "aiwg"


class _Plain(yaml.SafeLoader):
    """YAML without its timestamps: in JSON they are text."""


_Plain.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@cache
def document(name: str) -> dict[str, Any]:
    loaded = yaml.load((_DATA / f"{name}.yaml").read_text(), Loader=_Plain)
    if not isinstance(loaded, dict):
        raise TypeError(name)
    return loaded


def validator(name: str) -> jsonschema.Draft202012Validator:
    """`nullable` is not a word of JSON Schema and is ignored, as a standard validator ignores it."""
    schema = document(name)
    return jsonschema.Draft202012Validator(
        {key: schema[key] for key in ("$schema", "$id", "type", "required", "properties", "$defs") if key in schema},
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


def examples() -> dict[str, dict[str, Any]]:
    return {
        "state": document("loop-state")["examples"][0],
        "registry": document("loop-registry")["examples"][0],
        "persistence": document("persistence-extension")["examples"]["full_state_with_persistence"],
    }
