"""The gate: which statements may run as a query, decided on their tokens and on what the catalog says of functions.

Writes are refused by PostgreSQL itself (a cursor over a subquery, in a READ ONLY transaction). What that leaves open is
functions with side effects, by whatever way they are called; this refuses them and says which setting allows one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mcp_curated_database.engines.errors import QueryError
from mcp_curated_database.engines.postgres.functions import is_denied, is_harmless
from mcp_curated_database.engines.postgres.lexing import LexingError, Token, tokens
from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError

_READING: Final = frozenset(("select", "with", "values", "table"))
_HINTS: Final = {
    "explain": 'Leave EXPLAIN out and call with explain="plan" or "analyze".',
    "show": "Use SELECT current_setting('name').",
    "set": "Settings cannot be changed here.",
    "copy": "Use a plain SELECT.",
}
_WRITE_HINT: Final = "query only reads; execute writes, where the operator allows it."


@dataclass(frozen=True, slots=True)
class Facts:
    """What the catalog says, and the operator.

    Attributes:
        volatile: Names of VOLATILE functions, in any schema.
        fields: Those of them that `(value).name` calls.
        operators: Operators that call what is refused, each with its function.
        closed: Names of views, tables and types that would call one of these, with the reason.
        rows: Tables of which a row cannot be made without such a call.
        allowed: What the operator allows, in lower case and without schema.
    """

    volatile: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    operators: Mapping[str, str] = field(default_factory=dict[str, str])
    closed: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that may run.

    Attributes:
        sql: The caller's text.
        body: It without what follows its last token: no `;`, no comment that could swallow what is put behind it.
        tokens: All of it but the `;`.
    """

    sql: str
    body: str
    tokens: tuple[Token, ...]


def split(sql: str) -> Statement:
    """The one statement in a text.

    Raises:
        InvalidArgumentError: There is none, or more than one.
        QueryError: It cannot be read.
    """
    try:
        found = list(tokens(sql))
    except LexingError as error:
        raise QueryError(f"{error.problem}", "42601", sql=sql, position=error.position) from None
    while found and found[-1].text == ";" and found[-1].kind == "mark":
        found.pop()
    if not found:
        raise InvalidArgumentError("sql holds no statement.")
    for token in found:
        if token.kind == "mark" and token.text == ";":
            raise InvalidArgumentError("sql holds more than one statement.", "Send them one by one.")
    return Statement(sql, sql[: found[-1].end], tuple(found))


def admit(sql: str, facts: Facts) -> Statement:
    """A statement that may run as a query.

    Args:
        sql: The caller's text.
        facts: What the catalog says.

    Raises:
        NotAllowedError: It does not read, or could have a side effect; names the rule and the setting.
        InvalidArgumentError: It is no single statement.
        QueryError: It cannot be read.
    """
    statement = split(sql)
    first = next((token for token in statement.tokens if token.text != "("), statement.tokens[0])
    if first.kind != "name" or first.quoted or first.text not in _READING:
        word = first.text.upper()[:30]
        raise NotAllowedError(
            f"query takes SELECT, WITH, VALUES and TABLE, not {word}.", _HINTS.get(first.text, _WRITE_HINT)
        )
    refuse(statement.tokens, facts)
    return statement


def refuse(found: Sequence[Token], facts: Facts) -> None:
    """Refuse tokens that could have a side effect.

    Raises:
        NotAllowedError: The first that could.
    """
    for index, token in enumerate(found):
        if token.kind == "operator" and token.text in facts.operators:
            function = facts.operators[token.text]
            raise NotAllowedError(
                f"The operator {token.text} calls {function}, which may have effects that outlast this query.",
                f"Whoever runs this server can allow it: --allow-function {function}.",
            )
        if token.kind == "name" and token.text not in facts.allowed:
            before = found[index - 1].text if index else ""
            after = found[index + 1].text if index + 1 < len(found) else ""
            reason = _fault(token.text, before, after, facts)
            if reason:
                raise NotAllowedError(reason, f"Whoever runs this server can allow it: --allow-function {token.text}.")


def may_call(name: str, facts: Facts) -> bool:
    """Whether a function may be called."""
    return name in facts.allowed or not _fault(name, "", "(", facts)


def _fault(name: str, before: str, after: str, facts: Facts) -> str:
    if is_denied(name):
        return f"{name} may have effects outside this query, or read what is no table."
    if name in facts.closed:
        return facts.closed[name]
    if name in facts.rows and (before == ":" or (before == "as" and after == ")")):
        return f"A row of {name} cannot be made without calling what a query may not."
    if name not in facts.volatile or is_harmless(name):
        return ""
    if after == "(" or (before == "." and name in facts.fields):
        return f"{name} is a VOLATILE function, or calls one: it may have effects that outlast this query."
    return ""


@dataclass(frozen=True, slots=True)
class _Definition:
    kind: str
    name: str
    tokens: tuple[Token, ...] | None


_POPULATING: Final = (
    "json_populate_record json_populate_recordset jsonb_populate_record jsonb_populate_recordset populate_record"
)


def with_closed(
    definitions: Iterable[tuple[str, str, str]], operators: Iterable[tuple[str, str]], facts: Facts
) -> Facts:
    """Facts, with all that would call what is refused, also one through another.

    Args:
        definitions: What it is for people, its name, and the SQL that using it runs. Of a `function` only its call
            counts, of a `field` also `(value).name`, of a `row` only making one.
        operators: Each with its function; several may have one sign.
        facts: Without what is to be found.
    """
    signs = list(operators)
    left = [_Definition(kind, name, _readable(sql)) for kind, name, sql in definitions if name not in facts.allowed]
    while True:
        facts = replace(facts, operators={sign: name for sign, name in signs if not may_call(name, facts)})
        found = [(one, reason) for one in left if (reason := _closes(one, facts))]
        if not found:
            return facts
        facts = _extended(facts, found)
        done = {(one.kind, one.name) for one, _ in found}
        left = [one for one in left if (one.kind, one.name) not in done]


def _extended(facts: Facts, found: Iterable[tuple[_Definition, str]]) -> Facts:
    named: dict[str, set[str]] = {"function": set(), "field": set(), "row": set()}
    closed = dict(facts.closed)
    for one, reason in found:
        if one.kind in named:
            named[one.kind].add(one.name)
        else:
            closed.setdefault(one.name, reason)
        if one.kind in ("domain", "row"):
            told = "could make values whose checks call what a query may not."
            closed |= {name: f"{name} {told}" for name in _POPULATING.split()}
    return replace(
        facts,
        volatile=facts.volatile | named["function"] | named["field"],
        fields=facts.fields | named["field"],
        closed=closed,
        rows=facts.rows | named["row"],
    )


def _readable(sql: str) -> tuple[Token, ...] | None:
    try:
        return tuple(tokens(sql))
    except LexingError:
        return None


def _closes(one: _Definition, facts: Facts) -> str:
    if one.tokens is None:
        return f"The {one.kind} {one.name} has a definition that this server cannot read."
    try:
        refuse(one.tokens, facts)
    except NotAllowedError as error:
        return f"The {one.kind} {one.name} is closed: {error.text}"
    return ""
