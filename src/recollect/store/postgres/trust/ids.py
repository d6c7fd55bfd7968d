"""Ids of entries: hashes of their texts, so that an entry of one scope does not take the place of another's.

The hash is that of the text as it was written, before invisible characters are taken out and code fences closed; and
Python decides what a small letter is. So a CHECK can ask for the shape alone: one that asked for the hash would refuse
what is right now and then, and with it all lines of a scope. Instead, an entry whose id is not the hash of its text
takes the place of none whose id is.
"""

from __future__ import annotations

_SPACES = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"

IDS = (
    # As content_hash() of domain/hashing.py: in small letters, with one space between words.
    f"""
    DO $made$
    BEGIN
        EXECUTE format($function$
            CREATE FUNCTION text_id(description text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
                SELECT left(encode(sha256(convert_to(btrim(regexp_replace(lower(description COLLATE %s),
                    '{_SPACES}', ' ', 'g'), ' '), 'UTF8')), 'hex'), 16)
            $$ $function$, coalesce(
                (SELECT format('pg_catalog.%I', collname) FROM pg_collation
                    JOIN unnest(ARRAY['pg_unicode_fast', 'und-x-icu', 'pg_c_utf8']) WITH ORDINALITY known (name, place)
                        ON name = collname ORDER BY place LIMIT 1),
                '"C"'));
    END $made$
    """,
    """
    ALTER TABLE entries ADD CONSTRAINT ids_are_hashes
        CHECK (scope LIKE 'personal:%' OR id ~ '^[0-9a-f]{16}$') NOT VALID
    """,
    "DROP VIEW IF EXISTS nearest",
    """
    CREATE VIEW nearest WITH (security_invoker = true) AS SELECT e.* FROM entries e WHERE NOT EXISTS
        (SELECT 1 FROM entries n WHERE n.id = e.id AND n.scope <> e.scope
            AND (text_id(n.description) <> n.id, distance(n.scope), n.scope)
                < (text_id(e.description) <> e.id, distance(e.scope), e.scope))
    """,
)

CALLED = ("text_id(text)",)
