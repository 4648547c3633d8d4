"""Label selectors as the API has them (`matchLabels`, `matchExpressions`), applied to labels we hold.

Owns that rule; `grader.checks.selectors` has the text form of kubectl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels meet every requirement; an empty selector selects everything."""
    equal = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in equal.items()):
        return False
    return all(_holds(rule, labels) for rule in selector.get("matchExpressions") or [])


def _holds(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = str(rule.get("key", "")), rule.get("values") or []
    match rule.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
