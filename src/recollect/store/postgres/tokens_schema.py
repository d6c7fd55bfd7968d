"""The part of the schema with tokens, by which users without a login ask a server: made, revoked, looked up."""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER, MINE, NOW, TEXT, policies

_TABLE = (
    f"""
    CREATE TABLE tokens (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        hash {TEXT} UNIQUE,
        login {TEXT},
        scope {TEXT} REFERENCES scopes,
        role {TEXT} CHECK (role IN ('reader', 'writer', 'curator', 'admin')),
        name {TEXT} CHECK (length(name) <= 100),
        created_by {TEXT} DEFAULT me(),
        created_at {NOW},
        expires_at timestamptz NOT NULL,
        last_used_at timestamptz,
        revoked_at timestamptz
    )
    """,
    "CREATE INDEX tokens_by_scope ON tokens (scope)",
)

_FUNCTIONS = (
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

_SEEN = f"login = (SELECT me()) OR scope {MINE.format(chr(39) + 'admin' + chr(39))}"

TOKENS = (*_TABLE, *_FUNCTIONS, *policies("tokens", _SEEN, "SELECT", "INSERT", "UPDATE"))

_CALLED = (
    "create_token(text, text, text, text, double precision, text)",
    "revoke_token(bigint)",
    "token_user(text)",
)
# All but the hash.
_READ = "number, login, scope, role, name, created_by, created_at, expires_at, last_used_at, revoked_at"


def token_grants() -> list[str]:
    """Return the statements that give the group its rights on tokens. They may run again."""
    return [
        *(f"GRANT EXECUTE ON FUNCTION {called} TO {{member}}" for called in _CALLED),
        f"GRANT SELECT ({_READ}) ON tokens TO {{member}}",
    ]
