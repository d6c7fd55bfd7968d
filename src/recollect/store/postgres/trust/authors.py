"""The rule about lines: whoever shares a text first is its author, and only he or a curator changes or retires it.

The server's order decides who was first. `fold` reads the lines by the same rule, so lines that were taken before do no
harm, either. A line that came through a server that acts for others carries who made the token.
"""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER

# Refuses a line whose id somebody else has used, who must have seen it before the server lost it.
TAKEN_ID = "taken-id"

AUTHORS = (
    "ALTER TABLE lines ADD COLUMN maker text COLLATE \"C\" NOT NULL DEFAULT ''",
    # A line whose text has another hash shares nothing, and makes nobody an author. If all are such lines, Python and
    # the server do not agree about a letter of that text.
    f"""
    CREATE FUNCTION author_of(asked text, asked_hash text) RETURNS text LANGUAGE plpgsql STABLE {AS_OWNER} AS $$
    DECLARE
        line record;
        first text;
    BEGIN
        FOR line IN SELECT l.author, l.body #>> '{{entry,description}}' AS said FROM lines l
            WHERE l.scope = asked AND l.kind = 'shared' AND l.hash = left(asked_hash, 200) ORDER BY l.seq
        LOOP
            IF text_id(line.said) = asked_hash THEN
                RETURN line.author;
            END IF;
            first := coalesce(first, line.author);
        END LOOP;
        RETURN first;
    END $$
    """,
    # Who made the token by which somebody speaks, or the login that acts for him without one.
    f"""
    CREATE FUNCTION maker() RETURNS text LANGUAGE sql STABLE {AS_OWNER} AS $$
        SELECT CASE WHEN coalesce(current_setting('recollect.user', true), '') = '' OR me() = session_user THEN ''
        ELSE coalesce(
            (SELECT t.created_by FROM tokens t WHERE t.login = me()
                AND t.number::text = current_setting('recollect.token', true)), session_user) END
    $$
    """,
    # The row of the scope is locked until the transaction ends, so that numbers are taken in the order of commits: who
    # has read up to a line has read all before it. Nobody can lock it who may not write there.
    f"""
    CREATE OR REPLACE FUNCTION append_lines(asked text, given jsonb) RETURNS TABLE (refused text, reason text)
    LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        own_role text := my_role(asked);
        made_by text := maker();
        last bigint;
        line record;
        known record;
    BEGIN
        IF own_role IS NULL THEN
            PERFORM need(asked, 'reader');
        ELSIF own_role = 'reader' THEN
            RETURN QUERY SELECT coalesce(e.value ->> 'id', ''), 'a reader cannot write'
                FROM jsonb_array_elements(given) e (value);
            RETURN;
        END IF;
        PERFORM 1 FROM scopes s WHERE s.name = asked FOR NO KEY UPDATE;
        SELECT coalesce(max(l.seq), 0) INTO last FROM lines l WHERE l.scope = asked;
        FOR line IN
            SELECT coalesce(e.value ->> 'id', '') AS id, e.value -> 'body' AS body, k.kind,
                CASE k.kind WHEN 'journal' THEN '' ELSE e.value -> 'body' ->> k.kind END AS hash
            FROM jsonb_array_elements(given) WITH ORDINALITY e (value, place)
            LEFT JOIN LATERAL (SELECT min(key) AS kind, count(*) AS kinds
                FROM unnest(ARRAY['shared', 'observed', 'confirmed', 'retired', 'approved', 'journal']) key
                WHERE jsonb_exists(e.value -> 'body', key)) k ON k.kinds = 1
            ORDER BY e.place
        LOOP
            SELECT l.body, l.author INTO known FROM lines l WHERE l.scope = asked AND l.id = line.id;
            IF FOUND AND known.body = line.body AND known.author = me() THEN
                CONTINUE;
            END IF;
            refused := line.id;
            reason := CASE
                WHEN FOUND AND known.author <> me() THEN '{TAKEN_ID}'
                WHEN FOUND THEN 'its id is that of another line'
                ELSE line_refusal(asked, own_role, line.id, line.body, line.kind, line.hash) END;
            IF reason IS NOT NULL THEN
                RETURN NEXT;
            ELSE
                last := last + 1;
                INSERT INTO lines (scope, seq, id, role, maker, kind, hash, edits, body)
                    VALUES (asked, last, line.id, own_role, made_by, line.kind, left(line.hash, 200),
                        left(CASE line.kind WHEN 'shared' THEN coalesce(line.body ->> 'edits', '') ELSE '' END, 200),
                        line.body);
            END IF;
        END LOOP;
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION line_refusal(
        asked text, own_role text, id text, body jsonb, kind text, hash text) RETURNS text
    LANGUAGE plpgsql STABLE {AS_OWNER} AS $$
    DECLARE
        changed text := CASE kind WHEN 'shared' THEN body ->> 'edits' WHEN 'retired' THEN hash END;
        latest bigint := extract(epoch FROM clock_timestamp()) * 1000 + 600000;
    BEGIN
        IF id !~ '^[0-9]{{13}}-[0-9]{{6}}-[0-9a-f]{{8}}$' THEN
            RETURN 'its id has another shape';
        ELSIF jsonb_typeof(body) IS DISTINCT FROM 'object' OR kind IS NULL OR hash IS NULL THEN
            RETURN 'it says nothing, or several things at once';
        ELSIF octet_length(body::text) > 65536 THEN
            RETURN 'it is larger than 64 KiB';
        ELSIF substr(id, 1, 13)::bigint > latest THEN
            RETURN 'its time is in the future; set the clock of that machine';
        ELSIF kind = 'journal' AND asked NOT LIKE 'personal:%' THEN
            RETURN 'lines of a journal belong to a personal scope';
        ELSIF own_role <> 'writer' THEN
            RETURN NULL;
        ELSIF kind = 'approved' THEN
            RETURN 'only a curator can approve';
        ELSIF changed IS NOT NULL AND author_of(asked, changed) IS DISTINCT FROM me() THEN
            RETURN 'only a curator can change or retire what somebody else has shared';
        ELSIF kind = 'shared' AND changed IS NOT NULL AND author_of(asked, hash) <> me() THEN
            RETURN 'somebody else has shared that text before; only a curator can put it in the place of another';
        END IF;
        RETURN NULL;
    END $$
    """,
)
