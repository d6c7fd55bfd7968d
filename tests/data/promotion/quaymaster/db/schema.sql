-- Tables of quaymaster. The table pg_stat_activity shows who holds a lock, and table pg_stat_statements what is slow.
CREATE TABLE IF NOT EXISTS berth_booking (
    id bigint PRIMARY KEY,
    berth text NOT NULL,
    begins timestamptz NOT NULL,
    tenant text NOT NULL
);

/* table information_schema is enough for the migration check */
CREATE OR REPLACE FUNCTION tide_at(moment timestamptz) RETURNS numeric AS $$
    SELECT 0::numeric
$$ LANGUAGE sql;

CREATE UNIQUE INDEX berth_booking_once ON berth_booking (berth, begins);
