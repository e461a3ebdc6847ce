"""The statements that read pg_catalog, for PostgreSQL 14 to 18.

All names are qualified and all operands have the operators' own types: what somebody puts into another schema on the
search path, or into a temporary one, is never called (CVE-2018-1058). Columns that a version lacks are read through
`to_jsonb`. `$1` is a list of object identifiers with commas between them, where nothing else is said. `$2` is empty
to have expressions too: PostgreSQL locks a table against ALTER while it writes one of its expressions as text.
"""

from typing import Final

LISTING: Final = r"""
SELECT pg_catalog.json_build_array(c.oid::bigint, n.nspname, c.relname, c.relkind, c.reltuples::bigint,
    i.inhparent::bigint)::text AS fact
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = c.oid AND c.relispartition
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ((n.nspname !~ '^pg_'::text AND n.nspname <> 'information_schema')
    OR n.oid = pg_catalog.pg_my_temp_schema() OR pg_catalog.lower(n.nspname::text) = $1::text)
ORDER BY n.nspname, c.relname
"""
"""All tables and views; `$1` is the name of a system schema to show too, or empty."""

SCHEMA_COMMENTS: Final = """
SELECT pg_catalog.json_build_array(n.nspname, d.description)::text AS fact
FROM pg_catalog.pg_namespace AS n
JOIN pg_catalog.pg_description AS d ON d.objoid = n.oid AND d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
"""

NAMES: Final = """
SELECT pg_catalog.json_build_array(n.nspname, c.relname, pg_catalog.pg_table_is_visible(c.oid))::text AS fact
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ((n.nspname !~ '^pg_'::text AND n.nspname <> 'information_schema') OR n.oid = pg_catalog.pg_my_temp_schema())
ORDER BY n.nspname, c.relname LIMIT $1::text::integer
"""
"""Names to choose close ones from; `$1` is how many at most."""

COLUMN_NAMES: Final = """
SELECT DISTINCT pg_catalog.json_build_array(a.attname)::text AS fact
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.json_array_elements_text($1::text::json) AS wanted (name)
    ON c.relname::text = wanted.name OR n.nspname::text || '.'::text || c.relname::text = wanted.name
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY 1 LIMIT 20000
"""
"""`$1` is a JSON array of names of tables, with or without their schema."""

ABOUT: Final = """
SELECT pg_catalog.json_build_array(c.oid::bigint, d.description, c.relpersistence,
    c.relrowsecurity, c.relforcerowsecurity, c.relispopulated,
    pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'::text)
        AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT'::text),
    pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'::text)
        AND pg_catalog.has_table_privilege(c.oid, 'SELECT'::text),
    CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END,
    c.relispartition,
    CASE WHEN c.relispartition AND $2::text = '' THEN pg_catalog.pg_get_expr(c.relpartbound, c.oid, true) END,
    (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(pn.nspname, pc.relname) ORDER BY i.inhseqno)
        FROM pg_catalog.pg_inherits AS i JOIN pg_catalog.pg_class AS pc ON pc.oid = i.inhparent
        JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace WHERE i.inhrelid = c.oid),
    (SELECT s.srvname FROM pg_catalog.pg_foreign_table AS ft
        JOIN pg_catalog.pg_foreign_server AS s ON s.oid = ft.ftserver WHERE ft.ftrelid = c.oid),
    CASE WHEN c.relkind = 'v' THEN pg_catalog.to_json(c.reloptions) END)::text AS fact
FROM pg_catalog.pg_class AS c
LEFT JOIN pg_catalog.pg_description AS d
    ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
WHERE c.oid IN (
    SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
"""

COLUMNS: Final = """
SELECT pg_catalog.json_build_array(a.attrelid::bigint, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
    a.atttypid::bigint, a.attnotnull,
    CASE WHEN $2::text = '' THEN pg_catalog.pg_get_expr(e.adbin, e.adrelid, true)
        WHEN a.atthasdef THEN '...'::text END,
    a.attidentity, a.attgenerated, d.description)::text AS fact
FROM pg_catalog.pg_attribute AS a
LEFT JOIN pg_catalog.pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
LEFT JOIN pg_catalog.pg_description AS d ON d.objoid = a.attrelid AND d.objsubid = a.attnum::integer
    AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
WHERE a.attrelid IN (
    SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
    AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
"""

CONSTRAINTS: Final = """
SELECT pg_catalog.json_build_array(k.contype, k.conname, k.conrelid::bigint, k.confrelid::bigint,
    hn.nspname, hc.relname, tn.nspname, tc.relname,
    (SELECT pg_catalog.json_agg(a.attname ORDER BY u.place)
        FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number),
    (SELECT pg_catalog.json_agg(a.attname ORDER BY u.place)
        FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number),
    (SELECT pg_catalog.json_agg(a.attname ORDER BY a.attnum) FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = k.conrelid AND later.facts -> 'confdelsetcols'::text @> pg_catalog.to_jsonb(a.attnum)),
    k.confupdtype, k.confdeltype, k.confmatchtype, k.condeferrable, k.condeferred, k.convalidated,
    later.facts -> 'conenforced'::text, later.facts -> 'conperiod'::text,
    (SELECT pg_catalog.to_jsonb(i) -> 'indnullsnotdistinct'::text FROM pg_catalog.pg_index AS i
        WHERE i.indexrelid = k.conindid AND k.contype = 'u'),
    CASE WHEN $2::text <> '' THEN NULL WHEN k.contype = 'c' THEN pg_catalog.pg_get_expr(k.conbin, k.conrelid, true)
        WHEN k.contype = 'x' THEN pg_catalog.pg_get_constraintdef(k.oid, true) END,
    k.conparentid <> 0::oid, coalesce(parent.conrelid = k.conrelid, false))::text AS fact
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS hc ON hc.oid = k.conrelid
JOIN pg_catalog.pg_namespace AS hn ON hn.oid = hc.relnamespace
LEFT JOIN pg_catalog.pg_class AS tc ON tc.oid = k.confrelid
LEFT JOIN pg_catalog.pg_namespace AS tn ON tn.oid = tc.relnamespace
LEFT JOIN pg_catalog.pg_constraint AS parent ON parent.oid = k.conparentid
CROSS JOIN LATERAL (SELECT pg_catalog.to_jsonb(k) AS facts OFFSET 0) AS later -- OFFSET: once, not for each use
WHERE k.oid IN (
    SELECT own.oid FROM pg_catalog.pg_constraint AS own
    WHERE own.conrelid IN (
        SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
        AND own.contype IN ('p', 'u', 'f', 'c', 'x')
    UNION
    SELECT pointing.oid FROM pg_catalog.pg_constraint AS pointing
    WHERE pointing.contype = 'f'
        AND pointing.confrelid IN (
            SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked)))
ORDER BY hn.nspname, hc.relname, k.conkey, k.conname
"""

INDEXES: Final = """
SELECT pg_catalog.json_build_array(i.indrelid::bigint, c.relname,
    CASE WHEN $2::text = '' THEN pg_catalog.pg_get_indexdef(c.oid, 0, true) END,
    i.indisunique, i.indisvalid)::text AS fact
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid IN (
    SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k
        WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
ORDER BY c.relname
"""
"""Without those that a constraint made."""

DEFINITIONS: Final = """
SELECT pg_catalog.json_build_array(c.oid::bigint,
    CASE WHEN $2::text = '' THEN pg_catalog.pg_get_viewdef(c.oid, true) END)::text AS fact
FROM pg_catalog.pg_class AS c
WHERE c.oid IN (
    SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
    AND c.relkind IN ('v', 'm')
"""

TRIGGERS: Final = """
SELECT pg_catalog.json_build_array(t.tgrelid::bigint, t.tgname)::text AS fact
FROM pg_catalog.pg_trigger AS t
WHERE t.tgrelid IN (
    SELECT u.asked::oid FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)) AS u (asked))
    AND NOT t.tgisinternal
ORDER BY t.tgname
"""

TYPES: Final = """
WITH RECURSIVE used AS (
    SELECT u.type FROM pg_catalog.unnest(pg_catalog.string_to_array($1::text, ','::text)::oid[]) AS u (type)
    UNION
    SELECT inner_type.type FROM used JOIN pg_catalog.pg_type AS t ON t.oid = used.type
    CROSS JOIN LATERAL (
        SELECT t.typelem WHERE t.typcategory = 'A'
        UNION ALL SELECT t.typbasetype WHERE t.typtype = 'd'
        UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute AS a
            WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS inner_type (type)
)
SELECT pg_catalog.json_build_array(t.typtype, n.nspname, t.typname, pg_catalog.format_type(t.oid, NULL),
    (SELECT pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder)
        FROM pg_catalog.pg_enum AS e WHERE e.enumtypid = t.oid),
    CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END, t.typnotnull, t.typdefault,
    (SELECT pg_catalog.json_agg(pg_catalog.pg_get_expr(k.conbin, 0::oid, true) ORDER BY k.conname)
        FROM pg_catalog.pg_constraint AS k WHERE k.contypid = t.oid AND k.contype = 'c'),
    (SELECT pg_catalog.json_agg(
            pg_catalog.json_build_array(a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute AS a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped))::text AS fact
FROM used
JOIN pg_catalog.pg_type AS t ON t.oid = used.type
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE t.typtype IN ('e', 'd', 'c')
ORDER BY n.nspname, t.typname
"""
"""Enums, domains and composite types among the types in `$1` and in what they are made of."""
