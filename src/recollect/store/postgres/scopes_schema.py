"""The part of the schema that gives every row a scope, and decides who may read and write it.

There are three kinds of tables. Everybody reads the content of scopes of which he is a member. What a store notes
beside it is seen by those who work in that scope. Use is everybody's own, wherever he works: receipts have his words.
"""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER, QUICK

CONTENT = ("entries", "sources", "origins", "models", "vectors", "word_counts", "corpus", "changes")
NOTES = ("retirements", "relations", "marks", "anchors", "file_histories", "raised", "_metadata")
USE = ("usage", "receipts", "receipt_lines", "evidence", "feedback", "query_vectors", "aside")

_TEXT = 'text COLLATE "C" NOT NULL'
MOST_MODELS = 200  # of a server: each has indexes, and every index is looked at by every search

# Keys with the scope. It comes last where the rest leads to a few rows in whatever scope.
_KEYS = {
    "entries": (("PRIMARY KEY", "number, scope"), ("UNIQUE", "id, scope")),
    "sources": (("PRIMARY KEY", "number, scope"), ("UNIQUE", "scope, path")),
    "origins": (("PRIMARY KEY", "entry, scope, source"),),
    "vectors": (("PRIMARY KEY", "model, kind, scope, number"),),
    "word_counts": (("PRIMARY KEY", "scope, word"),),
    "corpus": (("PRIMARY KEY", "scope"),),
    "retirements": (("PRIMARY KEY", "scope, id, project"),),
    "relations": (("PRIMARY KEY", "scope, new, old, source"),),
    "marks": (("PRIMARY KEY", "scope, id, kind, project"),),
    "anchors": (("PRIMARY KEY", "scope, id, project, file"),),
    "file_histories": (("UNIQUE", "scope, project, file, since, now"),),
    "raised": (("PRIMARY KEY", "scope, id, level"),),
    "models": (("PRIMARY KEY", "scope, number"), ("UNIQUE", "scope, identity")),
    "_metadata": (("PRIMARY KEY", "scope, key"),),
    "usage": (("PRIMARY KEY", "scope, id"),),
    "receipts": (("PRIMARY KEY", "scope, number"),),
    "receipt_lines": (("PRIMARY KEY", "scope, receipt, place"),),
    "evidence": (("PRIMARY KEY", "scope, number"),),
    "feedback": (("PRIMARY KEY", "scope, id"),),
    "query_vectors": (("PRIMARY KEY", "scope, model, text"),),
}
_BEFORE = ("sources_path_key", "entries_id_key", "file_histories_project_file_since_now_key", "models_identity_key")

_RIGHTS = (
    # The scope that a connection writes to, if it may. Who serves others also derives the content of what they read.
    f"""
    CREATE FUNCTION writable() RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT s.asked FROM (SELECT current_setting('recollect.scope', true) AS asked) s
        WHERE s.asked = ANY (my_scopes('writer')) OR (acts_for_others() AND s.asked = ANY (my_scopes()))
    $$
    """,
    f"""
    CREATE FUNCTION within() RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT s.asked FROM (SELECT current_setting('recollect.scope', true) AS asked) s
        WHERE s.asked = ANY (my_scopes())
    $$
    """,
    # Whose use is noted. An admin of a scope may have the token of a member, so what is used by tokens is kept apart,
    # for each scope: it tells nothing of what the member does elsewhere.
    f"""
    CREATE FUNCTION own() RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT u.own || CASE
            WHEN acts_for_others() AND coalesce(current_setting('recollect.user', true), '') <> ''
                AND s.asked NOT IN ('', u.own) THEN ' in ' || s.asked
            ELSE '' END
        FROM (SELECT personal_name(me()) AS own) u,
            (SELECT coalesce(current_setting('recollect.scope', true), '') AS asked) s
    $$
    """,
    f"""
    CREATE FUNCTION need_to_write() RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF writable() IS NULL THEN
            PERFORM need(current_setting('recollect.scope'), 'writer');
        END IF;
    END $$
    """,
    # Of an entry in several scopes, the nearest counts: that in which one works, then by kind.
    """
    CREATE FUNCTION distance(scope text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN scope = current_setting('recollect.scope', true) THEN 0 ELSE
            array_position(ARRAY['personal', 'project', 'team', 'organisation'], split_part(scope, ':', 1)) END
    $$
    """,
)

# Existing rows become those of the owner.
_COLUMNS = (
    "CREATE TABLE changes (number bigint NOT NULL)",
    f"CREATE TABLE aside (name {_TEXT}, kept jsonb NOT NULL)",
    """
    INSERT INTO scopes (name, created_by) SELECT personal_name(current_user), current_user
        WHERE EXISTS (SELECT 1 FROM _metadata) ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO members (scope, login, role, added_by) SELECT name, current_user, 'admin', current_user FROM scopes
        WHERE name = personal_name(current_user) ON CONFLICT DO NOTHING
    """,
    f"""
    DO $$
    DECLARE
        name text;
        standard text;
    BEGIN
        FOREACH name IN ARRAY ARRAY{[*CONTENT, *NOTES, *USE]} LOOP
            standard := CASE WHEN name = ANY (ARRAY{[*USE]}) THEN 'own()'
                ELSE 'current_setting(''recollect.scope'')' END;
            EXECUTE format('ALTER TABLE %I ADD COLUMN scope text COLLATE "C" NOT NULL DEFAULT %L',
                name, personal_name(current_user));
            EXECUTE format('ALTER TABLE %I ALTER COLUMN scope SET DEFAULT %s', name, standard);
        END LOOP;
    END $$
    """,
    "ALTER TABLE changes ADD PRIMARY KEY (scope)",
    "INSERT INTO changes SELECT value::bigint, scope FROM _metadata WHERE key = 'changes'",
    "DELETE FROM _metadata WHERE key = 'changes'",
    "DELETE FROM corpus WHERE entries = 0",
    "CREATE INDEX aside_by_scope ON aside (scope)",
)


def _keys() -> list[str]:
    made = [f"ALTER TABLE {name.partition('_')[0]} DROP CONSTRAINT {name}" for name in _BEFORE[:2]]
    made += [f"ALTER TABLE file_histories DROP CONSTRAINT {_BEFORE[2]}"]
    made += [f"ALTER TABLE models DROP CONSTRAINT {_BEFORE[3]}"]
    for table, keys in _KEYS.items():
        if keys[0][0] == "PRIMARY KEY" and table != "corpus":
            made.append(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey")
        made += [f"ALTER TABLE {table} ADD {kind} ({columns})" for kind, columns in keys]
    return made


# A row leads to rows of its own scope alone, so nobody can hang something on an entry of another one.
_LINKS = (
    "DELETE FROM origins o WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.number = o.entry)"
    " OR NOT EXISTS (SELECT 1 FROM sources s WHERE s.number = o.source)",
    "DELETE FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.number = v.number)",
    "ALTER TABLE origins ADD FOREIGN KEY (entry, scope) REFERENCES entries (number, scope)",
    "ALTER TABLE origins ADD FOREIGN KEY (source, scope) REFERENCES sources (number, scope)",
    "ALTER TABLE vectors ADD FOREIGN KEY (number, scope) REFERENCES entries (number, scope)",
)

_INDEXES = (
    "DROP INDEX entries_standing, entries_unindexed, evidence_once, receipts_by_project, sources_by_kind",
    "CREATE INDEX entries_standing ON entries (scope, status, category, owner)"
    " INCLUDE (number, id, observation_count, confidence, updated_at)",
    "CREATE INDEX entries_unindexed ON entries (scope, number) WHERE words IS NULL",
    "CREATE INDEX sources_by_kind ON sources (scope, kind, project)",
    "CREATE UNIQUE INDEX evidence_once ON evidence (scope, id, session, kind, turn) WHERE place <> ''",
    "CREATE INDEX receipts_by_project ON receipts (scope, project)",
    "CREATE VIEW nearest WITH (security_invoker = true) AS SELECT e.* FROM entries e WHERE NOT EXISTS"
    " (SELECT 1 FROM entries n WHERE n.id = e.id"
    " AND (distance(n.scope), n.scope) < (distance(e.scope), e.scope))",
)

# The numbers of models are the same for all scopes, because each number has an index of its own. Only the owner of a
# table can make one.
_MODELS = (
    f"""
    CREATE TABLE model_numbers (
        number integer GENERATED BY DEFAULT AS IDENTITY (MINVALUE 0) PRIMARY KEY,
        identity {_TEXT} CHECK (length(identity) <= 1000),
        dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 16000),
        UNIQUE (identity, dimensions)
    )
    """,
    "INSERT INTO model_numbers SELECT number, identity, dimensions FROM models",
    "SELECT setval(pg_get_serial_sequence('model_numbers', 'number'),"
    " (SELECT max(number) FROM model_numbers)) WHERE EXISTS (SELECT 1 FROM model_numbers)",
    f"""
    CREATE FUNCTION number_of_model(asked text, size integer) RETURNS integer LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        found integer;
    BEGIN
        INSERT INTO model_numbers (identity, dimensions) SELECT asked, size
            WHERE NOT EXISTS (SELECT 1 FROM model_numbers m WHERE m.identity = asked AND m.dimensions = size)
            AND (SELECT count(*) FROM model_numbers) < {MOST_MODELS}
            ON CONFLICT DO NOTHING;
        SELECT m.number INTO found FROM model_numbers m WHERE m.identity = asked AND m.dimensions = size;
        IF found IS NULL THEN
            RAISE EXCEPTION 'there are vectors of {MOST_MODELS} models already'
                USING ERRCODE = 'RC001', HINT = 'use one of these, or ask the owner to remove some from model_numbers';
        END IF;
        RETURN found;
    END $$
    """,
    f"""
    CREATE FUNCTION index_vectors(asked integer, asked_kind integer) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        size integer;
    BEGIN
        SELECT m.dimensions INTO size FROM model_numbers m WHERE m.number = asked;
        IF size <= 4000 AND asked_kind IN (0, 1) THEN
            EXECUTE format('CREATE INDEX IF NOT EXISTS vectors_of_%s_%s ON vectors USING hnsw'
                ' ((vector::{{vector}}.halfvec(%s)) {{vector}}.halfvec_cosine_ops) WHERE model = %s AND kind = %s',
                asked, asked_kind, size, asked, asked_kind);
        END IF;
    END $$
    """,
)

# A row that somebody writes must not make the searches of others fail: vectors have the size of their model and can be
# compared, and sums of counts stay numbers.
_SOUND = (
    "ALTER TABLE vectors ADD CHECK (scale >= 0 AND scale < 'Infinity')",
    "ALTER TABLE corpus ADD CHECK (abs(entries) < 1e12 AND abs(length) < 1e15)",
    "ALTER TABLE word_counts ADD CHECK (abs(entries) < 1e12)",
    f"""
    CREATE FUNCTION check_vectors() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF EXISTS (SELECT 1 FROM come c LEFT JOIN model_numbers m ON m.number = c.model
            WHERE {{vector}}.vector_dims(c.vector) IS DISTINCT FROM m.dimensions)
        THEN
            RAISE EXCEPTION 'a vector has another size than those of its model'
                USING ERRCODE = 'RC001', HINT = 'make it with that model';
        END IF;
        RETURN NULL;
    END $$
    """,
    *(
        f"CREATE TRIGGER check_{action} AFTER {action} ON vectors REFERENCING NEW TABLE AS come"
        " FOR EACH STATEMENT EXECUTE FUNCTION check_vectors()"
        for action in ("INSERT", "UPDATE")
    ),
)

# Row-level security keeps the server from using an index for operators that might tell of rows, among them that of
# full-text search. So the index is on a table that nobody reads but this function, and that checks the scopes itself.
_WORDS = (
    "DROP INDEX entries_words",
    f"""
    CREATE TABLE entry_words (
        number bigint NOT NULL,
        scope {_TEXT},
        words tsvector NOT NULL,
        PRIMARY KEY (number, scope),
        FOREIGN KEY (number, scope) REFERENCES entries (number, scope) ON DELETE CASCADE
    )
    """,
    "INSERT INTO entry_words SELECT number, scope, words FROM entries WHERE words IS NOT NULL",
    "CREATE INDEX entry_words_words ON entry_words USING gin (words)",
    f"""
    CREATE FUNCTION entries_with(asked tsquery) RETURNS SETOF bigint LANGUAGE sql ROWS 300 {QUICK} AS $$
        SELECT w.number FROM entry_words w
        WHERE w.words @@ asked AND w.scope = ANY ((SELECT my_scopes())::text[])
    $$
    """,
    "DROP TRIGGER count_changed_words ON entries",
    "DROP TRIGGER count_removed_words ON entries",
    "DROP FUNCTION count_changed_words, count_removed_words",
    f"""
    CREATE FUNCTION count_changed_words() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF NOT EXISTS (SELECT 1 FROM gone g JOIN come c USING (number) WHERE g.words IS DISTINCT FROM c.words) THEN
            RETURN NULL;
        END IF;
        DELETE FROM entry_words w USING come c WHERE w.number = c.number AND c.words IS NULL;
        INSERT INTO entry_words AS w SELECT c.number, c.scope, c.words FROM come c WHERE c.words IS NOT NULL
            ON CONFLICT (number, scope) DO UPDATE SET words = excluded.words WHERE w.words <> excluded.words;
        INSERT INTO corpus AS o (scope, entries, length)
            SELECT c.scope, coalesce(sum((c.words IS NOT NULL)::int - (g.words IS NOT NULL)::int), 0),
                coalesce(sum(CASE WHEN c.words IS NULL THEN 0 ELSE c.length END
                    - CASE WHEN g.words IS NULL THEN 0 ELSE g.length END), 0)
            FROM gone g JOIN come c USING (number) WHERE g.words IS DISTINCT FROM c.words GROUP BY c.scope
            ON CONFLICT (scope) DO UPDATE
            SET entries = o.entries + excluded.entries, length = o.length + excluded.length;
        INSERT INTO word_counts AS w (scope, word, entries)
            SELECT scope, word, sum(step) FROM (
                SELECT c.scope, unnest(tsvector_to_array(g.words)) AS word, -1 AS step
                    FROM gone g JOIN come c USING (number) WHERE g.words IS DISTINCT FROM c.words
                UNION ALL
                SELECT c.scope, unnest(tsvector_to_array(c.words)), 1
                    FROM gone g JOIN come c USING (number) WHERE g.words IS DISTINCT FROM c.words
            ) steps GROUP BY scope, word HAVING sum(step) <> 0
            ON CONFLICT (scope, word) DO UPDATE SET entries = w.entries + excluded.entries;
        RETURN NULL;
    END $$
    """,
    f"""
    CREATE FUNCTION count_removed_words() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        UPDATE corpus o SET entries = o.entries - c.entries, length = o.length - c.length
            FROM (SELECT g.scope, count(*) AS entries, coalesce(sum(g.length), 0) AS length
                FROM gone g WHERE g.words IS NOT NULL GROUP BY g.scope) c WHERE o.scope = c.scope;
        UPDATE word_counts w SET entries = w.entries - c.entries
            FROM (SELECT g.scope, unnest(tsvector_to_array(g.words)) AS word, count(*) AS entries
                FROM gone g GROUP BY 1, 2) c WHERE w.scope = c.scope AND w.word = c.word;
        RETURN NULL;
    END $$
    """,
    "CREATE TRIGGER count_changed_words AFTER UPDATE ON entries REFERENCING OLD TABLE AS gone NEW TABLE AS come"
    " FOR EACH STATEMENT EXECUTE FUNCTION count_changed_words()",
    "CREATE TRIGGER count_removed_words AFTER DELETE ON entries REFERENCING OLD TABLE AS gone"
    " FOR EACH STATEMENT EXECUTE FUNCTION count_removed_words()",
)


def _policies() -> list[str]:
    """Return the statements for the policies of all tables. The functions in them are asked once for a statement."""
    made: list[str] = []
    for tables, seen, changed in (
        (CONTENT, "= ANY ((SELECT my_scopes())::text[])", "= (SELECT writable())"),
        (NOTES, "= (SELECT within())", "= (SELECT writable())"),
        (USE, "= (SELECT own())", "= (SELECT own())"),
    ):
        for table in tables:
            made += [
                f"CREATE POLICY seen ON {table} FOR SELECT USING (scope {seen})",
                f"CREATE POLICY added ON {table} FOR INSERT WITH CHECK (scope {changed})",
                f"CREATE POLICY changed ON {table} FOR UPDATE USING (scope {changed}) WITH CHECK (scope {changed})",
                f"CREATE POLICY removed ON {table} FOR DELETE USING (scope {changed})",
            ]
    for table in ("entry_words", "model_numbers"):
        made.append(f"CREATE POLICY done ON {table} TO CURRENT_USER USING (true) WITH CHECK (true)")
    made += [
        "CREATE POLICY seen ON _migrations FOR SELECT USING (true)",
        "CREATE POLICY done ON _migrations TO CURRENT_USER USING (true) WITH CHECK (true)",
    ]
    return made


SCOPES = (*_RIGHTS, *_COLUMNS, *_keys(), *_LINKS, *_INDEXES, *_MODELS, *_SOUND, *_WORDS, *_policies())

_CALLED = (
    *("writable()", "within()", "own()", "need_to_write()", "distance(text)", "personal_name(text)"),
    *("number_of_model(text, integer)", "index_vectors(integer, integer)", "entries_with(tsquery)"),
)


def grants() -> list[str]:
    """Return the statements that give the group its rights on content. They may run again.

    Nobody may choose the number of an entry or a source, or change its scope: numbers lead from row to row.
    """
    usual = [table for table in (*CONTENT, *NOTES, *USE) if table not in ("entries", "sources")]
    return [
        *(f"GRANT EXECUTE ON FUNCTION {called} TO {{member}}" for called in _CALLED),
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(usual)} TO {{member}}",
        "GRANT SELECT, DELETE ON entries, sources TO {member}",
        "GRANT SELECT ON nearest TO {member}",
        """
        DO $$
        DECLARE
            given record;
        BEGIN
            FOR given IN SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ') AS columns
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.oid IN ('entries'::regclass, 'sources'::regclass) AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attname NOT IN ('number', 'scope') GROUP BY 1
            LOOP
                EXECUTE format('GRANT INSERT (%s), UPDATE (%s) ON %I TO {member}',
                    given.columns, given.columns, given.name);
            END LOOP;
        END $$
        """,
    ]
