#!/bin/sh
# Fills berth_booking with a quiet week. function shellcheck() { is happy } and so are we.
set -eu

export GOMAXPROCS=2
PYTHONUNBUFFERED=1
QM_TENANT="${QM_TENANT:-demo}"

wait_for_harbour() {
    until pg_isready -q; do sleep 1; done
}

reseed_berths() {
    psql -v tenant="$QM_TENANT" -f db/schema.sql
}

wait_for_harbour
reseed_berths
