"""JSON Schema, as far as the published schemas use it.

A keyword that is not known here is an error and not passed over: a check that sees less than the schema says
would hold nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_SILENT = frozenset({"$schema", "$defs", "title", "description", "default", "examples"})
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def violations(value: Any, schema: dict[str, Any]) -> list[str]:
    """Where `value` is not what `schema` says, a line each; empty: it is valid."""
    return list(_violations(value, schema, schema, "$"))


def _violations(value: Any, schema: dict[str, Any] | bool, root: dict[str, Any], at: str) -> Iterator[str]:
    if isinstance(schema, bool):  # true takes anything, false nothing: what `additionalProperties` mostly says
        if not schema:
            yield f"{at}: must not be there"
        return
    for keyword, wanted in schema.items():
        if keyword in _SILENT:
            continue
        match keyword:
            case "$ref":
                yield from _violations(value, root["$defs"][wanted.rpartition("/")[2]], root, at)
            case "anyOf":
                tries = [list(_violations(value, one, root, at)) for one in wanted]
                if all(tries):
                    yield f"{at}: none of the forms: {tries}"
            case "type":
                if not isinstance(value, _TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
                    yield f"{at}: {value!r} is no {wanted}"
            case "const":
                if value != wanted:
                    yield f"{at}: {value!r} is not {wanted!r}"
            case "enum":
                if value not in wanted:
                    yield f"{at}: {value!r} is none of {wanted}"
            case "pattern":
                if isinstance(value, str) and not re.search(wanted, value):
                    yield f"{at}: {value!r} is not like {wanted}"
            case "minimum":
                if isinstance(value, (int, float)) and value < wanted:
                    yield f"{at}: {value} is below {wanted}"
            case "maximum":
                if isinstance(value, (int, float)) and value > wanted:
                    yield f"{at}: {value} is above {wanted}"
            case "minLength" | "minItems" | "minProperties":
                kind: type[Any] = {"minLength": str, "minItems": list, "minProperties": dict}[keyword]
                if isinstance(value, kind) and len(value) < wanted:
                    yield f"{at}: {value!r} is shorter than {wanted}"
            case "maxLength" | "maxItems" | "maxProperties":
                kind = {"maxLength": str, "maxItems": list, "maxProperties": dict}[keyword]
                if isinstance(value, kind) and len(value) > wanted:
                    yield f"{at}: {value!r} is longer than {wanted}"
            case "oneOf":
                fits = sum(not list(_violations(value, one, root, at)) for one in wanted)
                if fits != 1:
                    yield f"{at}: {fits} of the forms fit, not one"
            case "patternProperties":
                for pattern, inner in wanted.items():
                    for key in value if isinstance(value, dict) else ():
                        if re.search(pattern, key):
                            yield from _violations(value[key], inner, root, f"{at}.{key}")
            case "propertyNames":
                for key in value if isinstance(value, dict) else ():
                    yield from _violations(key, wanted, root, f"{at}.{key}")
            case "required":
                yield from (f"{at}: no {key!r}" for key in wanted if isinstance(value, dict) and key not in value)
            case "properties":
                present = wanted.keys() & value.keys() if isinstance(value, dict) else ()
                for key in present:
                    yield from _violations(value[key], wanted[key], root, f"{at}.{key}")
            case "additionalProperties":
                known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
                for key in value.keys() - known.keys() if isinstance(value, dict) else ():
                    if any(re.search(pattern, key) for pattern in patterns):
                        continue
                    yield from _violations(value[key], wanted, root, f"{at}.{key}")
            case "items":
                for number, item in enumerate(value if isinstance(value, list) else ()):
                    yield from _violations(item, wanted, root, f"{at}[{number}]")
            case _:
                raise NotImplementedError(keyword)
