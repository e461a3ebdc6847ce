"""Kubernetes Secret objects: everything under `data` and `stringData` is secret, whatever its name."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.values import is_placeholder, is_template

KIND: Final = "kubernetes-secret"

_YAML_KIND: Final = re.compile(
    r"^[ \t]*(?:-[ \t]+)?kind:[ \t]*[\"']?(?:Sealed)?Secret(?:List)?[\"']?[ \t]*(?:#[^\n]*)?$", re.MULTILINE
)
_YAML_DATA: Final = re.compile(r"^(?P<indent>[ \t]*)(?:data|stringData):[ \t]*$", re.MULTILINE)
_YAML_ENTRY: Final = re.compile(r"(?P<indent>[ \t]+)(?P<name>[\w./\"'-]+):[ \t]*(?P<value>[^\n]*)")
_BOUNDARY: Final = re.compile(r"^---", re.MULTILINE)
_JSON_KIND: Final = re.compile(r"\"kind\"\s{0,8}:\s{0,8}\"Secret\"")
_JSON_DATA: Final = re.compile(r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{(?P<body>[^{}]*)\}")
_JSON_ENTRY: Final = re.compile(r"\"[^\"\\\n]{1,253}\"\s{0,8}:\s{0,8}\"(?P<value>[^\"\\\n]*)\"")
_BLOCK: Final = re.compile(r"[|>][-+0-9]{0,2}[ \t]*$")


def find_manifest_secrets(text: str) -> list[Span]:
    """The values of every Secret manifest, YAML or JSON, in a text without invisible characters."""
    if "Secret" not in text or "kind" not in text:
        return []
    found: list[Span] = []
    if _YAML_KIND.search(text):
        for start, end in _documents(text):
            if _YAML_KIND.search(text, start, end):
                found += _yaml_values(text, start, end)
    if _JSON_KIND.search(text):
        for block in _JSON_DATA.finditer(text):
            for entry in _JSON_ENTRY.finditer(text, *block.span("body")):
                found += _span(entry["value"], entry.start("value"))
    return found


def _documents(text: str) -> Iterator[tuple[int, int]]:
    starts = [0, *(match.start() for match in _BOUNDARY.finditer(text)), len(text)]
    yield from pairwise(starts)


def _yaml_values(text: str, start: int, end: int) -> Iterator[Span]:
    for block in _YAML_DATA.finditer(text, start, end):
        yield from _yaml_entries(text, block.end() + 1, end, len(block["indent"]))


def _yaml_entries(text: str, position: int, end: int, outer: int) -> Iterator[Span]:
    """The entries more deeply indented than their mapping's name; lines of block scalars are values as a whole."""
    inner = -1
    while position < end:
        stop = text.find("\n", position, end)
        stop = end if stop < 0 else stop
        line = text[position:stop]
        indent = len(line) - len(line.lstrip(" \t"))
        if line.strip() and indent <= outer:
            return
        entry = _YAML_ENTRY.match(line)
        if entry and (inner < 0 or indent <= inner):
            inner = indent
            if not _BLOCK.match(entry["value"]):
                yield from _span(entry["value"].rstrip(), position + entry.start("value"))
        elif line.strip() and not line.lstrip().startswith("#"):
            yield from _span(line.strip(), position + indent)
        position = stop + 1


def _span(value: str, start: int) -> Iterator[Span]:
    quote = value[:1] if value[:1] in "\"'" and len(value) > 1 and value[-1] == value[0] else ""
    inner = value[1:-1] if quote else value
    if len(inner) >= 2 and not is_placeholder(inner) and not is_template(inner):
        yield Span(start + len(quote), start + len(quote) + len(inner), KIND)
