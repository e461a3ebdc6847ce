"""What the gate must know of a database: VOLATILE functions, and what hides a call of one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from mcp_curated_database.engines.postgres.driver import Connection
from mcp_curated_database.engines.postgres.gate import Facts, closed_names, may_call

_FUNCTIONS: Final = """
SELECT p.proname AS name, min(p.pronargs - p.pronargdefaults) AS least
FROM pg_catalog.pg_proc p
WHERE p.provolatile = 'v'
GROUP BY p.proname
"""

# A function that calls itself STABLE or IMMUTABLE may lie. What SQL and PL/pgSQL say can be read; a language that
# reaches out of the database cannot be bounded. What an extension brought is believed, as is what is built in.
_BODIES: Final = """
SELECT p.proname AS name, p.pronargs - p.pronargdefaults AS least, l.lanname AS language, l.lanpltrusted AS trusted,
       coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) AS sql
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE p.oid >= 16384 AND p.provolatile <> 'v' AND p.prokind IN ('f', 'w') AND l.lanname NOT IN ('internal', 'c')
AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e')
"""

_EXECUTES: Final = re.compile(r"\bexecute\b", re.IGNORECASE)
"""PL/pgSQL's way to run a text that nobody can read beforehand."""

_RUNS_TEXT: Final = "query_to_xml"
"""A name that the gate refuses wherever it stands, for code that may run any text."""

_OPERATORS: Final = """
SELECT DISTINCT o.oprname AS name, p.proname AS function
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
WHERE o.oid >= 16384
"""

_DEFINITIONS: Final = """
SELECT 'view' AS kind, c.relname AS name, pg_catalog.pg_get_viewdef(c.oid) AS sql
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
UNION ALL
SELECT 'table', c.relname, pg_catalog.pg_get_expr(p.polqual, p.polrelid)
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
WHERE p.polqual IS NOT NULL AND p.polcmd IN ('*', 'r')
UNION ALL
SELECT 'domain', t.typname, pg_catalog.pg_get_constraintdef(k.oid)
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid
WHERE k.contype = 'c' AND t.oid >= 16384
UNION ALL
SELECT 'type', t.typname, pg_catalog.quote_ident(f.proname) || '('
FROM pg_catalog.pg_cast x
JOIN pg_catalog.pg_proc f ON f.oid = x.castfunc
JOIN pg_catalog.pg_type t ON t.oid IN (x.castsource, x.casttarget) AND t.oid >= 16384
WHERE x.oid >= 16384
UNION ALL
SELECT 'table', c.relname, pg_catalog.quote_ident(f.proname) || '('
FROM pg_catalog.pg_cast x
JOIN pg_catalog.pg_proc f ON f.oid = x.castfunc
JOIN pg_catalog.pg_attribute a ON a.atttypid IN (x.castsource, x.casttarget) AND a.attnum > 0 AND a.atttypid >= 16384
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
WHERE x.oid >= 16384
UNION ALL
SELECT 'aggregate', p.proname, pg_catalog.quote_ident(f.proname) || '('
FROM pg_catalog.pg_aggregate a
JOIN pg_catalog.pg_proc p ON p.oid = a.aggfnoid
JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
    a.aggmtransfn, a.aggmfinalfn)
WHERE p.oid >= 16384
"""


async def read_facts(connection: Connection, allowed: Iterable[str]) -> Facts:
    """Look at the catalog, inside a transaction that is open.

    Args:
        connection: To the database.
        allowed: Functions that the operator allows, with or without a schema.
    """
    functions = await connection.fetch(_FUNCTIONS)
    bodies = await connection.fetch(_BODIES)
    operators = await connection.fetch(_OPERATORS)
    definitions = await connection.fetch(_DEFINITIONS)
    stated = Facts(
        volatile=frozenset(str(row["name"]) for row in functions),
        fields=frozenset(str(row["name"]) for row in functions if row["least"] <= 1),
        allowed=frozenset(name.strip().lower().rpartition(".")[2] for name in allowed),
    )
    lying = closed_names((("function", str(row["name"]), _body(row)) for row in bodies), stated)
    facts = replace(
        stated,
        volatile=stated.volatile | lying.keys(),
        fields=stated.fields | {str(row["name"]) for row in bodies if row["name"] in lying and row["least"] <= 1},
    )
    calling = {str(row["name"]): str(row["function"]) for row in operators}
    facts = replace(facts, operators={sign: name for sign, name in calling.items() if not may_call(name, facts)})
    found = ((str(row["kind"]), str(row["name"]), str(row["sql"])) for row in definitions)
    return replace(facts, closed=closed_names(found, facts))


def _body(row: Mapping[str, Any]) -> str:
    """What a function runs, as far as it can be read; else what the gate refuses."""
    if row["language"] in ("sql", "plpgsql"):
        return f"{row['sql']} {_RUNS_TEXT}" if _EXECUTES.search(str(row["sql"])) else str(row["sql"])
    return "" if row["trusted"] else _RUNS_TEXT
