"""Whose a token is: his who made it for himself, or who has redeemed it with his own login.

What an admin makes for somebody else is an invitation. Its text opens nothing; the login that it names gets another
text for it. So nobody holds a token by which he speaks as somebody else.
"""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER

INVITED_TOKENS = (
    # Tokens of earlier versions that somebody has made for another one are invitations, too.
    "ALTER TABLE tokens ADD COLUMN redeemed_at timestamptz",
    f"""
    CREATE OR REPLACE FUNCTION create_token(
        new_hash text, asked_login text, asked text, asked_role text, seconds double precision, about text)
    RETURNS bigint LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        made bigint;
        lifetime double precision := coalesce(seconds, 90 * 86400);
    BEGIN
        PERFORM need(asked, CASE WHEN asked_login = me() THEN asked_role ELSE 'admin' END);
        IF asked_login IN ('', '*') THEN
            RAISE EXCEPTION 'a token speaks for one user' USING ERRCODE = 'RC001', HINT = 'name a login';
        END IF;
        IF NOT lifetime <= 366 * 86400 THEN
            RAISE EXCEPTION 'a token ends within a year' USING ERRCODE = 'RC001', HINT = 'give at most 366 days';
        END IF;
        IF coalesce(current_setting('recollect.token', true), '') <> '' THEN
            RAISE EXCEPTION 'a token makes no tokens' USING ERRCODE = 'RC001', HINT = 'use the login of the user';
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
            VALUES (new_hash, asked_login, asked, asked_role, left(about, 100), now() + make_interval(secs => lifetime))
            RETURNING number INTO made;
        RETURN made;
    END $$
    """,
    f"""
    CREATE FUNCTION redeem_token(old_hash text, new_hash text)
    RETURNS TABLE (number bigint, scope text, role text, expires text) LANGUAGE plpgsql {AS_OWNER} AS $$
    DECLARE
        invited tokens%ROWTYPE;
    BEGIN
        SELECT t.* INTO invited FROM tokens t WHERE t.hash = old_hash AND t.login = me() AND t.created_by <> me()
            AND t.redeemed_at IS NULL AND t.revoked_at IS NULL AND t.expires_at > now() FOR UPDATE;
        IF NOT FOUND OR coalesce(current_setting('recollect.token', true), '') <> '' THEN
            RAISE EXCEPTION 'that is no invitation to a token for %, or not any more', me()
                USING ERRCODE = 'RC001', HINT = 'ask the admin of the scope for another one';
        END IF;
        PERFORM need(invited.scope, invited.role);
        UPDATE tokens t SET hash = new_hash, redeemed_at = now() WHERE t.number = invited.number;
        INSERT INTO audit (scope, action, subject, detail) VALUES (invited.scope, 'redeemed token', me(),
            jsonb_build_object('number', invited.number, 'role', invited.role));
        RETURN QUERY SELECT invited.number, invited.scope, invited.role,
            to_char(invited.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION token_user(asked text)
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
                AND (t.created_by = t.login OR t.redeemed_at IS NOT NULL)
                AND coalesce(t.last_used_at, '-infinity') < now() - interval '1 minute';
        END IF;
        RETURN QUERY SELECT t.number, t.login::text, t.scope::text, t.role::text,
                to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM tokens t WHERE t.hash = asked AND t.revoked_at IS NULL AND t.expires_at > now()
            AND (t.created_by = t.login OR t.redeemed_at IS NOT NULL)
            AND EXISTS (SELECT 1 FROM members m JOIN consents c ON c.scope = m.scope AND c.login = t.login
                WHERE m.scope = t.scope AND m.login IN (t.login, '*') AND c.accepted);
    END $$
    """,
)

CALLED = ("redeem_token(text, text)",)
