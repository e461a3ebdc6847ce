"""What the gate must know of a database: VOLATILE functions, and what hides a call of one."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcp_curated_database.engines.postgres.driver import Connection
from mcp_curated_database.engines.postgres.gate import Facts, with_closed

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
       coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) AS sql,
       coalesce(pg_catalog.pg_get_expr(p.proargdefaults, 0), '') AS defaults,
       (SELECT coalesce(string_agg(pg_catalog.quote_ident(t.typname), ' '), '') FROM pg_catalog.pg_type t
        WHERE t.oid >= 16384 AND (t.oid = p.prorettype OR t.oid = ANY (p.proargtypes::oid[]))) AS types
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

_SIGNS: Final = "'=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*', '~', '!~'"
"""Operators that words call too (ORDER BY, DISTINCT, USING, IN, LIKE): closed with their types, not by their sign."""

_OPERATORS: Final = f"""
SELECT DISTINCT o.oprname AS name, p.proname AS function
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
WHERE o.oid >= 16384 AND NOT (o.oprname IN ({_SIGNS}) AND (o.oprleft >= 16384 OR o.oprright >= 16384))
"""  # noqa: S608 - put together from constants

_DEFINITIONS: Final = """
SELECT 'view' AS kind, c.relname AS name, pg_catalog.pg_get_viewdef(c.oid) AS sql
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
UNION ALL
SELECT 'table', c.relname, pg_catalog.pg_get_expr(p.polqual, p.polrelid)
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
WHERE p.polqual IS NOT NULL AND p.polcmd IN ('*', 'r')
UNION ALL
SELECT 'aggregate', p.proname, pg_catalog.quote_ident(f.proname) || '('
FROM pg_catalog.pg_aggregate a
JOIN pg_catalog.pg_proc p ON p.oid = a.aggfnoid
JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
    a.aggmtransfn, a.aggmfinalfn)
WHERE p.oid >= 16384
"""


_CALLED: Final = "pg_catalog.quote_ident(f.proname) || '('"

# Types that call a function where a value is made, cast, compared or sorted; types made of them; tables that hold them.
# To read a domain's value runs no check, so that it closes no table: only making a row of it is refused.
_TYPES: Final = f"""
SELECT 'domain' AS kind, t.typname AS name, pg_catalog.pg_get_constraintdef(k.oid) AS sql
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid
WHERE k.contype = 'c' AND t.oid >= 16384
UNION ALL
SELECT 'type', t.typname, {_CALLED}
FROM pg_catalog.pg_cast x JOIN pg_catalog.pg_proc f ON f.oid = x.castfunc
JOIN pg_catalog.pg_type t ON t.oid IN (x.castsource, x.casttarget) AND t.oid >= 16384
WHERE x.oid >= 16384
UNION ALL
SELECT 'type', t.typname, {_CALLED}
FROM pg_catalog.pg_amproc a JOIN pg_catalog.pg_proc f ON f.oid = a.amproc
JOIN pg_catalog.pg_type t ON t.oid IN (a.amproclefttype, a.amprocrighttype) AND t.oid >= 16384
UNION ALL
SELECT 'type', t.typname, {_CALLED}
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_proc f ON f.oid = o.oprcode
JOIN pg_catalog.pg_type t ON t.oid IN (o.oprleft, o.oprright) AND t.oid >= 16384
WHERE o.oprname IN ({_SIGNS})
UNION ALL
SELECT 'type', t.typname, pg_catalog.quote_ident(i.typname)
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type i ON i.oid IN (t.typelem, t.typbasetype)
WHERE t.oid >= 16384 AND i.oid >= 16384
UNION ALL
SELECT 'type', t.typname, pg_catalog.quote_ident(i.typname)
FROM pg_catalog.pg_range r JOIN pg_catalog.pg_type t ON t.oid IN (r.rngtypid, r.rngmultitypid)
JOIN pg_catalog.pg_type i ON i.oid = r.rngsubtype
WHERE i.oid >= 16384
UNION ALL
SELECT DISTINCT CASE c.relkind WHEN 'c' THEN 'type' ELSE 'row' END, c.relname, pg_catalog.quote_ident(t.typname)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attnum > 0 AND t.oid >= 16384 AND c.relkind IN ('c', 'r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT DISTINCT 'table', c.relname, pg_catalog.quote_ident(t.typname)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_type d ON d.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type e ON e.oid = d.typelem
JOIN pg_catalog.pg_type t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype
    WHEN e.typtype = 'd' THEN e.typbasetype ELSE d.oid END
WHERE a.attnum > 0 AND t.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""  # noqa: S608 - put together from constants


async def read_facts(connection: Connection, allowed: Iterable[str]) -> Facts:
    """Look at the catalog, inside a transaction that is open.

    Args:
        connection: To the database.
        allowed: Functions that the operator allows, with or without a schema.
    """
    functions = await connection.fetch(_FUNCTIONS)
    bodies = await connection.fetch(_BODIES)
    operators = await connection.fetch(_OPERATORS)
    definitions = [*await connection.fetch(_DEFINITIONS), *await connection.fetch(_TYPES)]
    stated = Facts(
        volatile=frozenset(str(row["name"]) for row in functions),
        fields=frozenset(str(row["name"]) for row in functions if row["least"] <= 1),
        allowed=frozenset(name.strip().lower().rpartition(".")[2] for name in allowed),
    )
    told = [(_kind(row), str(row["name"]), _body(row)) for row in bodies]
    told += [(str(row["kind"]), str(row["name"]), str(row["sql"])) for row in definitions]
    signs = [(str(row["name"]), str(row["function"])) for row in operators]
    return await asyncio.to_thread(with_closed, told, signs, stated)  # a database may have thousands


def _kind(row: Mapping[str, Any]) -> str:
    return "field" if row["least"] <= 1 else "function"


def _body(row: Mapping[str, Any]) -> str:
    """What a function runs, as far as it can be read; else what the gate refuses."""
    reads = row["language"] in ("sql", "plpgsql")
    text = str(row["sql"]) if reads else ""
    hidden = _EXECUTES.search(text) is not None if reads else not row["trusted"]
    return f"{text}\n{row['defaults']} {row['types']} {_RUNS_TEXT if hidden else ''}"
