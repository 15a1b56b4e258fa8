"""Findings as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from typing import Any
from urllib.parse import quote

from untilproven.guard.catalogue import patterns
from untilproven.guard.finding import Finding, Severity
from untilproven.guard.judging import Judgement
from untilproven.guard.reasons import words_for

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}


def sarif(judgement: Judgement, version: str) -> dict[str, Any]:
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "untilproven", "version": version, "rules": _rules(judgement)}},
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": finding.pattern,
                        "level": _LEVELS[finding.severity],
                        "message": {"text": _message(finding)},
                        "partialFingerprints": {"untilproven/v1": finding.id},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": quote(finding.path, errors="surrogateescape")},
                                    "region": {"startLine": finding.line},
                                }
                            }
                        ],
                    }
                    for finding in judgement.findings
                ],
            }
        ],
    }


def _message(finding: Finding) -> str:
    reasons = "; ".join(map(words_for, finding.explained))
    return f"{finding.message}. It weighs less: {reasons}" if reasons else finding.message


def _rules(judgement: Judgement) -> list[dict[str, Any]]:
    """Only those that were broken."""
    named = {finding.pattern for finding in judgement.findings}
    return [
        {
            "id": pattern.id,
            "name": pattern.name,
            "shortDescription": {"text": pattern.name},
            "fullDescription": {"text": pattern.why},
            "help": {"text": f"{pattern.why} What to do: {pattern.recovery.lower().replace('_', ' ')}."},
            "defaultConfiguration": {"level": _LEVELS[pattern.weight]},
        }
        for pattern in patterns()
        if pattern.id in named
    ]
