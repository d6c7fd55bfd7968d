"""Consent: a scope reaches a user only after he has said yes. Until then, membership is an invitation.

Whoever creates a scope has said yes to it, and everybody to his own. `my_scopes()`, which every policy asks, has only
accepted scopes. Where a token speaks, it must be valid: one that was taken back opens nothing any more, at once.
"""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER, MINE, NOW, QUICK, TEXT, policies

_TOKEN = "coalesce(current_setting('recollect.token', true), '')"  # noqa: S105 (the name of a setting)

_TABLES = (
    f"""
    CREATE TABLE consents (
        login {TEXT},
        scope {TEXT} REFERENCES scopes,
        accepted boolean NOT NULL,
        at {NOW},
        PRIMARY KEY (login, scope)
    )
    """,
    # Before there was consent: who has created a scope, written in it, or changed its members. Not who may never have
    # spoken there himself, because somebody else had a token for him that was used.
    """
    INSERT INTO consents (login, scope, accepted)
        SELECT DISTINCT u.login, u.scope, true FROM (
            SELECT created_by AS login, name AS scope FROM scopes
            UNION SELECT added_by, scope FROM members
            UNION SELECT l.author, l.scope FROM lines l GROUP BY l.author, l.scope HAVING NOT EXISTS (
                SELECT 1 FROM tokens t WHERE t.login = l.author AND t.scope = l.scope AND t.created_by <> t.login
                    AND t.last_used_at IS NOT NULL AND t.created_at <= min(l.received))
            UNION SELECT login, scope FROM members WHERE scope LIKE 'personal:%'
        ) u WHERE EXISTS (SELECT 1 FROM members m WHERE m.scope = u.scope AND m.login IN (u.login, '*'))
    """,
    # A row for each scope that is written to, which is locked by whoever writes. Only who may write there can lock it.
    f"CREATE TABLE turns (scope {TEXT} PRIMARY KEY REFERENCES scopes)",
    "INSERT INTO turns SELECT name FROM scopes",
)

_RIGHTS = (
    # The scopes that somebody has accepted, each with the level of his role there, within what the connection asks for.
    f"""
    CREATE FUNCTION my_levels() RETURNS TABLE (scope text, level integer) LANGUAGE sql {QUICK} AS $$
        SELECT c.scope,
            least(max(level(m.role)), coalesce(level(nullif(current_setting('recollect.role', true), '')), 4))
        FROM consents c JOIN members m ON m.scope = c.scope AND m.login IN (c.login, '*')
        WHERE c.login = me() AND c.accepted
            AND (coalesce(current_setting('recollect.read', true), '') = ''
                OR c.scope = ANY (string_to_array(current_setting('recollect.read', true), ',')))
            AND ({_TOKEN} = '' OR EXISTS (SELECT 1 FROM tokens t WHERE t.number::text = {_TOKEN}
                AND t.login = me() AND t.scope = c.scope AND t.revoked_at IS NULL AND t.expires_at > now()))
        GROUP BY c.scope
    $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION my_scopes(lowest text DEFAULT 'reader') RETURNS text[] LANGUAGE sql {QUICK} AS $$
        SELECT coalesce(array_agg(l.scope), '{{}}') FROM my_levels() l WHERE l.level >= level(lowest)
    $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION my_role(asked text) RETURNS text LANGUAGE sql {QUICK} AS $$
        SELECT (ARRAY['reader', 'writer', 'curator', 'admin'])[l.level] FROM my_levels() l WHERE l.scope = asked
    $$
    """,
    f"""
    CREATE FUNCTION take_turn() RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        PERFORM need_to_write();
        PERFORM 1 FROM turns t WHERE t.scope = current_setting('recollect.scope') FOR UPDATE;
    END $$
    """,
    f"""
    CREATE FUNCTION invitations() RETURNS TABLE (scope text, role text, added_by text, at timestamptz, declined boolean)
    LANGUAGE sql {QUICK} AS $$
        SELECT DISTINCT ON (m.scope) m.scope, m.role, m.added_by, m.at, c.scope IS NOT NULL FROM members m
            LEFT JOIN consents c ON c.scope = m.scope AND c.login = me()
            WHERE m.login IN (me(), '*') AND NOT coalesce(c.accepted, false) AND {_TOKEN} = ''
            ORDER BY m.scope, level(m.role) DESC
    $$
    """,
    # Refuses whoever has a lower role in a scope. The same sentence whether or not there is such a scope.
    f"""
    CREATE OR REPLACE FUNCTION need(asked text, lowest text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF coalesce(level(my_role(asked)), 0) >= level(lowest) THEN
            RETURN;
        ELSIF EXISTS (SELECT 1 FROM invitations() i WHERE i.scope = asked) THEN
            RAISE EXCEPTION '% is invited to %, and has not accepted it', me(), asked
                USING ERRCODE = 'RC001', HINT = format('`recollect team accept %s` does', asked);
        END IF;
        RAISE EXCEPTION '% has no role of % in %', me(), lowest, asked
            USING ERRCODE = 'RC001', HINT = format('ask an admin of %s', asked);
    END $$
    """,
    f"""
    CREATE FUNCTION answer_scope(asked text, yes boolean) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF {_TOKEN} <> '' THEN
            RAISE EXCEPTION 'a token answers for nobody'
                USING ERRCODE = 'RC001', HINT = 'use the login of the user';
        ELSIF asked LIKE 'personal:%'
            OR NOT EXISTS (SELECT 1 FROM members m WHERE m.scope = asked AND m.login IN (me(), '*'))
        THEN
            RAISE EXCEPTION '% was not invited to %', me(), left(asked, 100)
                USING ERRCODE = 'RC001', HINT = format('ask an admin of %s', left(asked, 100));
        ELSIF NOT yes AND my_role(asked) = 'admin' AND NOT EXISTS (
            SELECT 1 FROM members m JOIN consents c ON c.scope = m.scope AND c.login = m.login
            WHERE m.scope = asked AND m.role = 'admin' AND m.login <> me() AND c.accepted)
        THEN
            RAISE EXCEPTION '% would have no admin', asked
                USING ERRCODE = 'RC001', HINT = 'make somebody else an admin first, who accepts it';
        END IF;
        INSERT INTO consents AS c (login, scope, accepted) VALUES (me(), asked, yes)
            ON CONFLICT (login, scope) DO UPDATE SET accepted = yes, at = now() WHERE c.accepted <> yes;
        IF FOUND THEN
            INSERT INTO audit (scope, action, subject)
                VALUES (asked, CASE WHEN yes THEN 'accepted' ELSE 'declined' END || ' invitation', me());
        END IF;
    END $$
    """,
)

_SCOPES = (
    f"""
    CREATE OR REPLACE FUNCTION personal_scope() RETURNS text LANGUAGE plpgsql {AS_OWNER} AS $$
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
            INSERT INTO consents (scope, login, accepted) VALUES (own, me(), true) ON CONFLICT DO NOTHING;
            INSERT INTO turns VALUES (own) ON CONFLICT DO NOTHING;
        END IF;
        RETURN own;
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION create_scope(new text, is_curated boolean) RETURNS void
    LANGUAGE plpgsql {AS_OWNER} AS $$
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
        INSERT INTO consents (scope, login, accepted) VALUES (new, me(), true);
        INSERT INTO turns VALUES (new);
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION put_member(asked text, new text, new_role text) RETURNS void
    LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        PERFORM lock_members(asked);
        IF new = '*' AND NOT is_owner() THEN
            RAISE EXCEPTION 'only the owner of the schema may add everybody'
                USING ERRCODE = 'RC001', HINT = format('ask %s, or name logins', current_user);
        ELSIF new = '*' AND level(new_role) > level('writer') THEN
            RAISE EXCEPTION 'everybody cannot be % of a scope', new_role
                USING ERRCODE = 'RC001', HINT = 'give the role to a login';
        END IF;
        INSERT INTO members AS m (scope, login, role) VALUES (asked, new, new_role)
            ON CONFLICT (scope, login) DO UPDATE SET role = excluded.role, added_by = me(), at = now()
            WHERE m.role <> excluded.role;
        PERFORM keep_admin(asked);
    END $$
    """,
    # Whoever is added again is asked again; only a no stays.
    f"""
    CREATE OR REPLACE FUNCTION remove_member(asked text, gone text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
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
        DELETE FROM consents c WHERE c.scope = asked AND c.accepted AND gone IN (c.login, '*')
            AND NOT EXISTS (SELECT 1 FROM members m WHERE m.scope = asked AND m.login IN (c.login, '*'));
        PERFORM keep_admin(asked);
    END $$
    """,
    # Who is no admin removes himself without holding up those who write.
    f"""
    CREATE OR REPLACE FUNCTION lock_members(asked text, is_own boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql {AS_OWNER} AS $$
    BEGIN
        IF NOT is_own AND NOT is_owner() THEN
            PERFORM need(asked, 'admin');
        END IF;
        IF asked LIKE 'personal:%' THEN
            RAISE EXCEPTION 'the members of a personal scope do not change'
                USING ERRCODE = 'RC001', HINT = 'create a project or a team to share something';
        ELSIF is_own AND my_role(asked) <> 'admin' THEN
            RETURN;
        END IF;
        PERFORM 1 FROM scopes s WHERE s.name = asked FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no scope %', left(asked, 100) USING ERRCODE = 'RC001', HINT = 'create it first';
        END IF;
    END $$
    """,
)

_SEEN = f"login = (SELECT me()) OR scope {MINE.format('')}"

CONSENT = (
    *_TABLES,
    *_RIGHTS,
    *_SCOPES,
    *policies("consents", _SEEN, "SELECT", "INSERT", "UPDATE", "DELETE"),
    *policies("turns", "false", "SELECT", "INSERT", "UPDATE"),
)

CALLED = ("take_turn()", "invitations()", "answer_scope(text, boolean)")
