#!/bin/sh
# Gives libpq a password that the platform has put into a file, then becomes the command.
set -eu
if [ -n "${PGPASSWORD_FILE:-}" ]; then
    PGPASSWORD=$(cat "$PGPASSWORD_FILE")
    export PGPASSWORD
fi
exec recollect "$@"
