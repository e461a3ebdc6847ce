"""What the gate must know of a database: VOLATILE functions, and what hides a call of one."""

from collections.abc import Iterable
from typing import Final

from mcp_curated_database.engines.postgres.driver import Connection
from mcp_curated_database.engines.postgres.gate import Facts, closed_names

_FUNCTIONS: Final = """
SELECT p.proname AS name, min(p.pronargs - p.pronargdefaults) AS least
FROM pg_catalog.pg_proc p
LEFT JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = p.oid
WHERE p.provolatile = 'v' OR EXISTS (
    SELECT FROM pg_catalog.pg_proc s
    WHERE s.provolatile = 'v'
    AND s.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
        a.aggmtransfn, a.aggmfinalfn))
GROUP BY p.proname
"""

_OPERATORS: Final = """
SELECT DISTINCT o.oprname AS name
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
WHERE p.provolatile = 'v' AND o.oid >= 16384
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
JOIN pg_catalog.pg_proc f ON f.oid = x.castfunc AND f.provolatile = 'v'
JOIN pg_catalog.pg_type t ON t.oid IN (x.castsource, x.casttarget) AND t.oid >= 16384
WHERE x.oid >= 16384
UNION ALL
SELECT 'table', c.relname, pg_catalog.quote_ident(f.proname) || '('
FROM pg_catalog.pg_cast x
JOIN pg_catalog.pg_proc f ON f.oid = x.castfunc AND f.provolatile = 'v'
JOIN pg_catalog.pg_attribute a ON a.atttypid IN (x.castsource, x.casttarget) AND a.attnum > 0 AND a.atttypid >= 16384
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
WHERE x.oid >= 16384
"""


async def read_facts(connection: Connection, allowed: Iterable[str]) -> Facts:
    """Look at the catalog, inside a transaction that is open.

    Args:
        connection: To the database.
        allowed: Functions that the operator allows, with or without a schema.
    """
    functions = await connection.fetch(_FUNCTIONS)
    operators = await connection.fetch(_OPERATORS)
    definitions = await connection.fetch(_DEFINITIONS)
    facts = Facts(
        volatile=frozenset(str(row["name"]) for row in functions),
        fields=frozenset(str(row["name"]) for row in functions if row["least"] <= 1),
        operators=frozenset(str(row["name"]) for row in operators),
        allowed=frozenset(name.strip().lower().rpartition(".")[2] for name in allowed),
    )
    closed = closed_names(((str(row["kind"]), str(row["name"]), str(row["sql"])) for row in definitions), facts)
    return Facts(facts.volatile, facts.fields, facts.operators, closed, facts.allowed)
