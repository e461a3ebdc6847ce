"""How far the role of a connection reaches beyond reading tables."""

from typing import Final

from mcp_curated_database.engines.postgres.driver import Connection

_REACH: Final = """
SELECT array_remove(ARRAY[
    CASE WHEN r.rolsuper THEN 'is a superuser' END,
    CASE WHEN NOT r.rolsuper AND r.rolcreaterole THEN 'may create roles' END,
    CASE WHEN NOT r.rolsuper AND r.rolreplication THEN 'may replicate' END], NULL)
|| CASE WHEN r.rolsuper THEN '{}'::text[] ELSE ARRAY(
    SELECT m.told
    FROM (VALUES ('pg_read_server_files', 'may read files of the server'),
                 ('pg_write_server_files', 'may write files of the server'),
                 ('pg_execute_server_program', 'may run programs on the server'),
                 ('pg_signal_backend', 'may end sessions of others')) AS m (role, told)
    WHERE pg_catalog.pg_has_role(m.role::name, 'USAGE')) END AS reach
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""

_SCHEMAS: Final = """
SELECT current_database() AS database, coalesce(array_agg(n.nspname ORDER BY n.nspname), '{}') AS schemas
FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""


async def reach(connection: Connection) -> tuple[str, ...]:
    """What the role may do beyond reading, for people: `is a superuser`; empty for a plain one."""
    found = await connection.fetch(_REACH)
    return tuple(str(one) for one in found[0]["reach"]) if found else ()


async def grant_script(connection: Connection) -> str:
    """SQL that makes a role which can only read; to be run by the owner of the database."""
    (row,) = await connection.fetch(_SCHEMAS)
    lines = [
        "Run as its owner, with a password of your own:",
        "CREATE ROLE mcp_reader LOGIN PASSWORD '...' NOSUPERUSER NOCREATEDB NOCREATEROLE;",
        f"GRANT CONNECT ON DATABASE {quoted(str(row['database']))} TO mcp_reader;",
    ]
    for schema in row["schemas"]:
        name = quoted(str(schema))
        lines += [
            f"GRANT USAGE ON SCHEMA {name} TO mcp_reader;",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO mcp_reader;",
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT SELECT ON TABLES TO mcp_reader;",
        ]
    lines.append("ALTER ROLE mcp_reader SET default_transaction_read_only = on;")
    return "\n".join(lines)


def quoted(name: str) -> str:
    """A name as SQL must write it to mean just it."""
    return '"' + name.replace('"', '""') + '"'
