"""The part of the schema that says who may do what: scopes, their members, and the log of their lines.

Nobody but the owner of the schema may change these tables. Everybody else calls functions, which check who asks
(`me()`). They run with the owner's rights, so they see all members. A setting of a connection (`recollect.read`,
`recollect.role`) narrows what membership allows, and never widens it: anybody can set it. `recollect.user` counts only
for logins of the group that acts for others.
"""

from __future__ import annotations

TEXT = 'text COLLATE "C" NOT NULL'
NOW = "timestamptz NOT NULL DEFAULT now()"

# With the rights of the owner, whatever the caller has put on his search path.
AS_OWNER = "SECURITY DEFINER SET search_path = {schema}, pg_temp"
QUICK = f"STABLE PARALLEL SAFE {AS_OWNER}"

_WHO = (
    f"""
    CREATE FUNCTION acts_for_others() RETURNS boolean LANGUAGE sql {QUICK} AS $$
        SELECT EXISTS (SELECT 1 FROM pg_roles r
            WHERE r.rolname = {{server_name}} AND pg_has_role(session_user, r.oid, 'MEMBER'))
    $$
    """,
    f"""
    CREATE FUNCTION me() RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT CASE WHEN acts_for_others()
            THEN coalesce(nullif(current_setting('recollect.user', true), ''), session_user) ELSE session_user END
    $$
    """,
    # True for the owner of the schema himself, and for superusers, unless they act for somebody, be it themselves.
    f"""
    CREATE FUNCTION is_owner() RETURNS boolean LANGUAGE sql {QUICK} AS $$
        SELECT pg_has_role(session_user, current_user, 'MEMBER')
            AND NOT (acts_for_others() AND coalesce(current_setting('recollect.user', true), '') <> '')
    $$
    """,
    """
    CREATE FUNCTION level(role text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_position(ARRAY['reader', 'writer', 'curator', 'admin'], role)
    $$
    """,
)

_TABLES = (
    f"""
    CREATE TABLE scopes (
        name {TEXT} PRIMARY KEY
            CHECK (name ~ '^(personal|project|team|organisation):[a-z0-9][a-z0-9._-]{{0,62}}$'),
        kind text COLLATE "C" NOT NULL GENERATED ALWAYS AS (split_part(name, ':', 1)) STORED,
        curated boolean NOT NULL DEFAULT false,
        created_by {TEXT} DEFAULT me(),
        created_at {NOW}
    )
    """,
    # A star for a login stands for everybody.
    f"""
    CREATE TABLE members (
        scope {TEXT} REFERENCES scopes,
        login {TEXT} CHECK (login <> ''),
        role {TEXT} CHECK (role IN ('reader', 'writer', 'curator', 'admin')),
        added_by {TEXT} DEFAULT me(),
        at {NOW},
        PRIMARY KEY (scope, login)
    )
    """,
    "CREATE INDEX members_by_login ON members (login)",
    # What a line is about are columns, so that row-level security does not keep the server from using an index.
    f"""
    CREATE TABLE lines (
        scope {TEXT} REFERENCES scopes,
        seq bigint NOT NULL,
        id {TEXT},
        author {TEXT} DEFAULT me(),
        role {TEXT},
        machine text COLLATE "C" NOT NULL GENERATED ALWAYS AS (substr(id, 22)) STORED,
        received {NOW},
        kind {TEXT},
        hash {TEXT},
        edits {TEXT} DEFAULT '',
        body jsonb NOT NULL,
        PRIMARY KEY (scope, seq),
        UNIQUE (scope, id)
    )
    """,
    "CREATE INDEX lines_by_hash ON lines (scope, hash, kind)",
    "CREATE INDEX lines_by_edited ON lines (scope, edits) WHERE edits <> ''",
)

# What membership allows, within what the connection asks for.
_RIGHTS = (
    f"""
    CREATE FUNCTION my_scopes(lowest text DEFAULT 'reader') RETURNS text[] LANGUAGE sql {QUICK} AS $$
        SELECT coalesce(array_agg(mine.scope), '{{}}') FROM (
            SELECT m.scope FROM members m WHERE m.login IN (me(), '*') GROUP BY m.scope
            HAVING max(level(m.role)) >= level(lowest)) mine
        WHERE level(lowest) <= coalesce(level(nullif(current_setting('recollect.role', true), '')), 4)
            AND (coalesce(current_setting('recollect.read', true), '') = ''
                OR mine.scope = ANY (string_to_array(current_setting('recollect.read', true), ',')))
    $$
    """,
    f"""
    CREATE FUNCTION my_role(asked text) RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT (ARRAY['reader', 'writer', 'curator', 'admin'])[max(n)] FROM generate_series(1, 4) n
        WHERE asked = ANY (my_scopes((ARRAY['reader', 'writer', 'curator', 'admin'])[n]))
    $$
    """,
    # Refuses whoever has a lower role in a scope. The same sentence whether or not there is such a scope.
    f"""
    CREATE FUNCTION need(asked text, lowest text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF coalesce(level(my_role(asked)), 0) < level(lowest) THEN
            RAISE EXCEPTION '% has no role of % in %', me(), lowest, asked
                USING ERRCODE = 'RC001', HINT = format('ask an admin of %s', asked);
        END IF;
    END $$
    """,
)

_SCOPES = (
    # A login that looks like the name made for another one gets such a name, too.
    """
    CREATE FUNCTION personal_name(login text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT 'personal:' || CASE
            WHEN login ~ '^[a-z0-9][a-z0-9._-]{0,62}$' AND login !~ '(^|-)[0-9a-f]{16}$' THEN login
            ELSE ltrim(left(regexp_replace(lower(login), '[^a-z0-9]+', '', 'g'), 40) || '-'
                || encode(substr(sha256(convert_to(login, 'UTF8')), 1, 8), 'hex'), '-') END
    $$
    """,
    # Returns the name of one's own scope, which is made when it is first asked for.
    f"""
    CREATE FUNCTION personal_scope() RETURNS text LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        own text := personal_name(me());
    BEGIN
        IF NOT EXISTS (SELECT 1 FROM members m WHERE m.scope = own AND m.login = me()) THEN
            IF EXISTS (SELECT 1 FROM members m WHERE m.scope = own) THEN
                RAISE EXCEPTION '% is the scope of somebody else', own
                    USING ERRCODE = 'RC001', HINT = 'use another login';
            END IF;
            INSERT INTO scopes (name) VALUES (own) ON CONFLICT DO NOTHING;
            INSERT INTO members (scope, login, role) VALUES (own, me(), 'admin') ON CONFLICT DO NOTHING;
        END IF;
        RETURN own;
    END $$
    """,
    f"""
    CREATE FUNCTION create_scope(new text, is_curated boolean) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF new !~ '^(project|team|organisation):[a-z0-9][a-z0-9._-]{{0,62}}$' THEN
            RAISE EXCEPTION '% is no name of a scope', left(new, 100) USING ERRCODE = 'RC001',
                HINT = 'it begins with project:, team: or organisation:, then small letters, digits, dots and dashes';
        END IF;
        IF new LIKE 'organisation:%' AND NOT is_owner() THEN
            RAISE EXCEPTION 'only the owner of the schema may create an organisation'
                USING ERRCODE = 'RC001', HINT = format('ask %s', current_user);
        END IF;
        INSERT INTO scopes (name, curated) VALUES (new, is_curated) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is a scope % already', new
                USING ERRCODE = 'RC001', HINT = 'choose another name, or ask its admin to add you';
        END IF;
        INSERT INTO members (scope, login, role) VALUES (new, me(), 'admin');
    END $$
    """,
    f"""
    CREATE FUNCTION set_curated(asked text, is_curated boolean) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        PERFORM need(asked, 'admin');
        UPDATE scopes SET curated = is_curated WHERE name = asked AND curated <> is_curated;
    END $$
    """,
    # An admin changes members. The owner of the schema may, too: somebody has to if the last admin has gone.
    f"""
    CREATE FUNCTION put_member(asked text, new text, new_role text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        PERFORM lock_members(asked);
        IF new = '*' AND level(new_role) > level('writer') THEN
            RAISE EXCEPTION 'everybody cannot be % of a scope', new_role
                USING ERRCODE = 'RC001', HINT = 'give the role to a login';
        END IF;
        INSERT INTO members AS m (scope, login, role) VALUES (asked, new, new_role)
            ON CONFLICT (scope, login) DO UPDATE SET role = excluded.role, added_by = me(), at = now()
            WHERE m.role <> excluded.role;
        PERFORM keep_admin(asked);
    END $$
    """,
    f"""
    CREATE FUNCTION remove_member(asked text, gone text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF gone = me() THEN
            PERFORM need(asked, 'reader');
        END IF;
        PERFORM lock_members(asked, gone = me());
        DELETE FROM members WHERE scope = asked AND login = gone;
        IF NOT FOUND THEN
            RAISE EXCEPTION '% is no member of %', gone, asked
                USING ERRCODE = 'RC001', HINT = '`recollect team members` lists them';
        END IF;
        PERFORM keep_admin(asked);
    END $$
    """,
    f"""
    CREATE FUNCTION lock_members(asked text, is_own boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF NOT is_own AND NOT is_owner() THEN
            PERFORM need(asked, 'admin');
        END IF;
        IF asked LIKE 'personal:%' THEN
            RAISE EXCEPTION 'the members of a personal scope do not change'
                USING ERRCODE = 'RC001', HINT = 'create a project or a team to share something';
        END IF;
        PERFORM 1 FROM scopes s WHERE s.name = asked FOR UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no scope %', left(asked, 100) USING ERRCODE = 'RC001', HINT = 'create it first';
        END IF;
    END $$
    """,
    f"""
    CREATE FUNCTION keep_admin(asked text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF NOT EXISTS (SELECT 1 FROM members m WHERE m.scope = asked AND m.role = 'admin') THEN
            RAISE EXCEPTION '% would have no admin', asked
                USING ERRCODE = 'RC001', HINT = 'make somebody else an admin first';
        END IF;
    END $$
    """,
)

# Lines are only ever added, and only here. One that is refused does not stop the others.
_LINES = (
    f"""
    CREATE FUNCTION append_lines(asked text, given jsonb) RETURNS TABLE (refused text, reason text)
    LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        own_role text := my_role(asked);
        last bigint;
        line record;
        known jsonb;
    BEGIN
        IF own_role IS NULL THEN
            PERFORM need(asked, 'reader');
        END IF;
        -- Until the transaction ends, so that numbers are taken in the order of commits: who has read up to a line has
        -- read all before it.
        PERFORM pg_advisory_xact_lock(hashtextextended({{schema_name}} || ' lines ' || asked, 0));
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
            SELECT l.body INTO known FROM lines l WHERE l.scope = asked AND l.id = line.id;
            IF FOUND AND known = line.body THEN
                CONTINUE;
            END IF;
            refused := line.id;
            reason := CASE
                WHEN FOUND THEN 'its id is that of another line'
                ELSE line_refusal(asked, own_role, line.id, line.body, line.kind, line.hash) END;
            IF reason IS NOT NULL THEN
                RETURN NEXT;
            ELSE
                last := last + 1;
                INSERT INTO lines (scope, seq, id, role, kind, hash, edits, body)
                    VALUES (asked, last, line.id, own_role, line.kind, left(line.hash, 200),
                        left(CASE line.kind WHEN 'shared' THEN coalesce(line.body ->> 'edits', '') ELSE '' END, 200),
                        line.body);
            END IF;
        END LOOP;
    END $$
    """,
    # Returns why a role may not say something, or nothing.
    f"""
    CREATE FUNCTION line_refusal(asked text, own_role text, id text, body jsonb, kind text, hash text) RETURNS text
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
        ELSIF own_role = 'reader' THEN
            RETURN 'a reader cannot write';
        ELSIF kind = 'journal' AND asked NOT LIKE 'personal:%' THEN
            RETURN 'lines of a journal belong to a personal scope';
        ELSIF own_role <> 'writer' THEN
            RETURN NULL;
        ELSIF kind = 'approved' THEN
            RETURN 'only a curator can approve';
        ELSIF changed IS NOT NULL AND me() IS DISTINCT FROM (
            SELECT l.author FROM lines l WHERE l.scope = asked AND l.kind = 'shared' AND l.hash = changed
            ORDER BY l.seq LIMIT 1)
        THEN
            RETURN 'only a curator can change or retire what somebody else has shared';
        END IF;
        RETURN NULL;
    END $$
    """,
)

MINE = "= ANY ((SELECT my_scopes({}))::text[])"  # asked once for a statement


def policies(table: str, seen: str, *done: str) -> list[str]:
    """Return the statements for the policies of a table: who sees a row, and what functions do as its owner."""
    made = [f"CREATE POLICY seen ON {table} FOR SELECT USING ({seen})"]
    for action in done:
        check = {"INSERT": "WITH CHECK (true)", "UPDATE": "USING (true) WITH CHECK (true)"}
        allowed = check.get(action, "USING (true)")
        made.append(f"CREATE POLICY done_{action} ON {table} FOR {action} TO CURRENT_USER {allowed}")
    return made


TEAM = (
    *_WHO,
    *_TABLES,
    *_RIGHTS,
    *_SCOPES,
    *_LINES,
    *policies("scopes", f"name {MINE.format('')}", "SELECT", "INSERT", "UPDATE"),
    *policies("members", f"scope {MINE.format('')}", "SELECT", "INSERT", "UPDATE", "DELETE"),
    *policies("lines", f"scope {MINE.format('')}", "INSERT"),
)

CLOSED = "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC"

# Functions that anybody in the group may call. The others are called by these alone.
_CALLED = (
    *("acts_for_others()", "me()", "is_owner()", "level(text)", "my_scopes(text)", "my_role(text)", "need(text, text)"),
    *("personal_scope()", "create_scope(text, boolean)", "set_curated(text, boolean)", "put_member(text, text, text)"),
    *("remove_member(text, text)", "append_lines(text, jsonb)"),
)


def group_names(schema: str) -> tuple[str, str]:
    """Return the names of two groups of logins: those who use the schema, and those who act for others there."""
    return f"{schema[:50]}_member", f"{schema[:50]}_server"


def team_grants() -> list[str]:
    """Return the statements that give the group its rights. They may run again."""
    return [
        "GRANT USAGE ON SCHEMA {schema} TO {member}",
        *(f"GRANT EXECUTE ON FUNCTION {called} TO {{member}}" for called in _CALLED),
        "GRANT SELECT ON scopes, members, lines, _migrations TO {member}",
    ]
