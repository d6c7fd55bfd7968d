"""The part of the schema that says who may do what: scopes, their members, the log of their lines, tokens, the audit.

Nobody but the owner of the schema may change these tables. Everybody else calls functions, which check who asks
(`me()`). They run with the owner's rights, so they see all members. A setting of a connection (`recollect.read`,
`recollect.role`) narrows what membership allows, and never widens it: anybody can set it. `recollect.user` counts only
for logins of the group that acts for others.
"""

from __future__ import annotations

_TEXT = 'text COLLATE "C" NOT NULL'
_NOW = "timestamptz NOT NULL DEFAULT now()"

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
        name {_TEXT} PRIMARY KEY
            CHECK (name ~ '^(personal|project|team|organisation):[a-z0-9][a-z0-9._-]{{0,62}}$'),
        kind text COLLATE "C" NOT NULL GENERATED ALWAYS AS (split_part(name, ':', 1)) STORED,
        curated boolean NOT NULL DEFAULT false,
        created_by {_TEXT} DEFAULT me(),
        created_at {_NOW}
    )
    """,
    # A star for a login stands for everybody.
    f"""
    CREATE TABLE members (
        scope {_TEXT} REFERENCES scopes,
        login {_TEXT} CHECK (login <> ''),
        role {_TEXT} CHECK (role IN ('reader', 'writer', 'curator', 'admin')),
        added_by {_TEXT} DEFAULT me(),
        at {_NOW},
        PRIMARY KEY (scope, login)
    )
    """,
    "CREATE INDEX members_by_login ON members (login)",
    # What a line is about are columns, so that row-level security does not keep the server from using an index.
    f"""
    CREATE TABLE lines (
        scope {_TEXT} REFERENCES scopes,
        seq bigint NOT NULL,
        id {_TEXT},
        author {_TEXT} DEFAULT me(),
        role {_TEXT},
        machine text COLLATE "C" NOT NULL GENERATED ALWAYS AS (substr(id, 22)) STORED,
        received {_NOW},
        kind {_TEXT},
        hash {_TEXT},
        edits {_TEXT} DEFAULT '',
        body jsonb NOT NULL,
        PRIMARY KEY (scope, seq),
        UNIQUE (scope, id)
    )
    """,
    "CREATE INDEX lines_by_hash ON lines (scope, hash, kind)",
    "CREATE INDEX lines_by_edited ON lines (scope, edits) WHERE edits <> ''",
    f"""
    CREATE TABLE tokens (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        hash {_TEXT} UNIQUE,
        login {_TEXT},
        scope {_TEXT} REFERENCES scopes,
        role {_TEXT} CHECK (role IN ('reader', 'writer', 'curator', 'admin')),
        name {_TEXT} CHECK (length(name) <= 100),
        created_by {_TEXT} DEFAULT me(),
        created_at {_NOW},
        expires_at timestamptz NOT NULL,
        last_used_at timestamptz,
        revoked_at timestamptz
    )
    """,
    "CREATE INDEX tokens_by_scope ON tokens (scope)",
    f"""
    CREATE TABLE audit (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at {_NOW},
        who {_TEXT} DEFAULT me(),
        scope {_TEXT},
        action {_TEXT},
        subject {_TEXT},
        detail jsonb NOT NULL DEFAULT '{{}}'
    )
    """,
    "CREATE INDEX audit_by_scope ON audit (scope, number)",
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

_TOKENS = (
    # For oneself in a scope of one's own, or as an admin for a member of the scope; never with more than his role.
    f"""
    CREATE FUNCTION create_token(
        new_hash text, asked_login text, asked text, asked_role text, seconds double precision, about text)
    RETURNS bigint LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        made bigint;
    BEGIN
        PERFORM need(asked, CASE WHEN asked_login = me() THEN asked_role ELSE 'admin' END);
        IF asked_login IN ('', '*') THEN
            RAISE EXCEPTION 'a token speaks for one user' USING ERRCODE = 'RC001', HINT = 'name a login';
        END IF;
        IF NOT seconds <= 366 * 86400 THEN
            RAISE EXCEPTION 'a token ends within a year' USING ERRCODE = 'RC001', HINT = 'give at most 366 days';
        END IF;
        IF NOT EXISTS (SELECT 1 FROM members m WHERE m.scope = asked AND m.login IN (asked_login, '*')
            AND level(m.role) >= level(asked_role))
        THEN
            RAISE EXCEPTION '% has no role of % in %', asked_login, asked_role, asked
                USING ERRCODE = 'RC001', HINT = 'add the member first';
        END IF;
        IF asked LIKE 'personal:%' AND asked_login <> me() THEN
            RAISE EXCEPTION 'a personal scope has no token of somebody else'
                USING ERRCODE = 'RC001', HINT = 'name a project or a team';
        END IF;
        INSERT INTO tokens (hash, login, scope, role, name, expires_at)
            VALUES (new_hash, asked_login, asked, asked_role, left(about, 100), now() + make_interval(secs => seconds))
            RETURNING number INTO made;
        RETURN made;
    END $$
    """,
    f"""
    CREATE FUNCTION revoke_token(asked bigint) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        UPDATE tokens t SET revoked_at = now() WHERE t.number = asked AND t.revoked_at IS NULL
            AND (t.login = me() OR t.created_by = me() OR t.scope = ANY (my_scopes('admin')));
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no token % that you could revoke', asked
                USING ERRCODE = 'RC001', HINT = '`recollect team token list` shows them';
        END IF;
    END $$
    """,
    # Only for servers: whose a token is. His role may be lower by now.
    f"""
    CREATE FUNCTION token_user(asked text)
    RETURNS TABLE (number bigint, login text, scope text, role text, expires text)
    LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF NOT acts_for_others() THEN
            RAISE EXCEPTION 'only a server may look up tokens'
                USING ERRCODE = 'RC001', HINT = format('GRANT %I TO %I', {{server_name}}, session_user);
        END IF;
        IF current_setting('transaction_read_only') = 'off' THEN
            UPDATE tokens t SET last_used_at = now()
                WHERE t.hash = asked AND t.revoked_at IS NULL AND t.expires_at > now()
                AND coalesce(t.last_used_at, '-infinity') < now() - interval '1 minute';
        END IF;
        RETURN QUERY SELECT t.number, t.login::text, t.scope::text, t.role::text,
                to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM tokens t WHERE t.hash = asked AND t.revoked_at IS NULL AND t.expires_at > now()
            AND EXISTS (SELECT 1 FROM members m WHERE m.scope = t.scope AND m.login IN (t.login, '*'));
    END $$
    """,
)

# Whatever is done to these tables, by whomever, is in the audit.
_AUDIT = (
    f"""
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        was jsonb := CASE WHEN TG_OP = 'INSERT' THEN NULL ELSE to_jsonb(OLD) END;
        said jsonb := CASE WHEN TG_OP = 'DELETE' THEN was ELSE to_jsonb(NEW) END;
    BEGIN
        IF TG_TABLE_NAME = 'lines' AND said ->> 'kind' = 'journal' THEN
            RETURN NULL;  -- the owner's own, who can read it
        ELSIF TG_TABLE_NAME = 'lines' THEN
            INSERT INTO audit (scope, action, subject, detail)
                VALUES (said ->> 'scope', said ->> 'kind', said ->> 'hash',
                jsonb_build_object('line', said ->> 'id', 'role', said ->> 'role')
                || jsonb_strip_nulls(jsonb_build_object('edits', nullif(said ->> 'edits', ''))));
        ELSIF TG_TABLE_NAME = 'members' THEN
            INSERT INTO audit (scope, action, subject, detail) VALUES (said ->> 'scope',
                CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'removed' ELSE 'changed' END || ' member',
                said ->> 'login', jsonb_strip_nulls(jsonb_build_object('role', said -> 'role', 'was', was -> 'role')));
        ELSIF TG_TABLE_NAME = 'scopes' THEN
            INSERT INTO audit (scope, action, subject, detail) VALUES (said ->> 'name',
                CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'removed' ELSE 'changed' END || ' scope',
                said ->> 'name', jsonb_build_object('curated', said -> 'curated'));
        ELSE
            INSERT INTO audit (scope, action, subject, detail) VALUES (said ->> 'scope',
                CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'removed' ELSE 'revoked' END || ' token',
                said ->> 'login', jsonb_build_object('number', said -> 'number', 'role', said -> 'role',
                    'expires', said -> 'expires_at'));
        END IF;
        RETURN NULL;
    END $$
    """,
    *(
        f"CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION note()"
        for table in ("lines", "members", "scopes")
    ),
    "CREATE TRIGGER note AFTER INSERT OR UPDATE OF revoked_at OR DELETE ON tokens FOR EACH ROW EXECUTE FUNCTION note()",
    f"""
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        RAISE EXCEPTION 'the table % is only ever added to', TG_TABLE_NAME
            USING ERRCODE = 'RC001', HINT = 'say something new instead';
    END $$
    """,
    *(
        f"CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        for table in ("lines", "audit")
    ),
)

_MINE = "= ANY ((SELECT my_scopes({}))::text[])"  # asked once for a statement
_SEEN = {
    "scopes": f"name {_MINE.format('')}",
    "members": f"scope {_MINE.format('')}",
    "lines": f"scope {_MINE.format('')}",
    "audit": f"scope {_MINE.format(chr(39) + 'curator' + chr(39))}",
    "tokens": f"login = (SELECT me()) OR scope {_MINE.format(chr(39) + 'admin' + chr(39))}",
}
# What the functions do, with the rights of the owner.
_DONE = {
    "scopes": ("SELECT", "INSERT", "UPDATE"),
    "members": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "lines": ("INSERT",),
    "audit": ("INSERT",),
    "tokens": ("SELECT", "INSERT", "UPDATE"),
}


def _policies() -> list[str]:
    made: list[str] = []
    for table, seen in _SEEN.items():
        made.append(f"CREATE POLICY seen ON {table} FOR SELECT USING ({seen})")
        for action in _DONE[table]:
            check = {"INSERT": "WITH CHECK (true)", "UPDATE": "USING (true) WITH CHECK (true)"}
            allowed = check.get(action, "USING (true)")
            made.append(f"CREATE POLICY done_{action} ON {table} FOR {action} TO CURRENT_USER {allowed}")
    return made


TEAM = (*_WHO, *_TABLES, *_RIGHTS, *_SCOPES, *_LINES, *_TOKENS, *_AUDIT, *_policies())

# Functions that anybody in the group may call. The others are called by these alone.
CALLED = (
    *("acts_for_others()", "me()", "is_owner()", "level(text)", "my_scopes(text)", "my_role(text)", "need(text, text)"),
    *("personal_scope()", "create_scope(text, boolean)", "set_curated(text, boolean)", "put_member(text, text, text)"),
    *("remove_member(text, text)", "append_lines(text, jsonb)", "revoke_token(bigint)", "token_user(text)"),
    "create_token(text, text, text, text, double precision, text)",
)
READ = {
    "scopes": "",
    "members": "",
    "lines": "",
    "audit": "",
    "tokens": " (number, login, scope, role, name, created_by, created_at, expires_at, last_used_at, revoked_at)",
    "_migrations": "",
}


CLOSED = "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC"


def group_names(schema: str) -> tuple[str, str]:
    """Return the names of two groups of logins: those who use the schema, and those who act for others there."""
    return f"{schema[:50]}_member", f"{schema[:50]}_server"


def team_grants() -> list[str]:
    """Return the statements that give the group its rights. They may run again."""
    return [
        "GRANT USAGE ON SCHEMA {schema} TO {member}",
        *(f"GRANT EXECUTE ON FUNCTION {called} TO {{member}}" for called in CALLED),
        *(f"GRANT SELECT{columns} ON {table} TO {{member}}" for table, columns in READ.items()),
    ]
