#!/bin/sh
# Makes the roles of recollect in a new database. The image of PostgreSQL runs it once, when its data folder is empty.
set -eu
psql -v ON_ERROR_STOP=1 -v owner="$OWNER_PASSWORD" -v server="$SERVER_PASSWORD" -v database="$POSTGRES_DB" \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE EXTENSION IF NOT EXISTS vector;
-- Who uses the memory, and who acts for others there: the server.
CREATE ROLE recollect_member NOLOGIN;
CREATE ROLE recollect_server NOLOGIN IN ROLE recollect_member;
CREATE ROLE memory_owner LOGIN PASSWORD :'owner';
CREATE ROLE gateway LOGIN PASSWORD :'server' IN ROLE recollect_server;
ALTER DATABASE :"database" OWNER TO memory_owner;
SQL
