"""The part of the schema that notes who did what, in a table that is only ever added to, as the log of lines is."""

from __future__ import annotations

from recollect.store.postgres.team_schema import AS_OWNER, MINE, NOW, TEXT, policies

_TABLE = (
    f"""
    CREATE TABLE audit (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at {NOW},
        who {TEXT} DEFAULT me(),
        scope {TEXT},
        action {TEXT},
        subject {TEXT},
        detail jsonb NOT NULL DEFAULT '{{}}'
    )
    """,
    "CREATE INDEX audit_by_scope ON audit (scope, number)",
)

# Whatever is done to these tables, by whomever, is in the audit.
_NOTED = (
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

_SEEN = f"scope {MINE.format(chr(39) + 'curator' + chr(39))}"

AUDIT = (*_TABLE, *_NOTED, *policies("audit", _SEEN, "INSERT"))

AUDIT_GRANTS = ("GRANT SELECT ON audit TO {member}",)
