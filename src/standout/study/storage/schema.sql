-- The tables of a store, version 1. Statements stand apart by an empty line; one that begins
-- with "-- sqlite" or "-- postgresql" is for that database alone, and {bytes} is its word for
-- binary data. All times are in seconds since 1970.

CREATE TABLE standout_store (
    version INTEGER NOT NULL,
    identity TEXT NOT NULL,
    generation INTEGER NOT NULL
)

CREATE TABLE standout_studies (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
)

-- All that happened, and the only truth: rows are added, and never changed. Bodies may be large and
-- come last, because SQLite reads a row up to the last column that it is asked for.
CREATE TABLE standout_events (
    study INTEGER NOT NULL,
    number BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL,
    worker TEXT NOT NULL,
    key TEXT,
    digest {bytes} NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (study, number)
)

CREATE UNIQUE INDEX standout_events_key ON standout_events (study, key) WHERE key IS NOT NULL

-- A cache: the state in part 0, the rewards up to it in the parts from 1 on.
CREATE TABLE standout_snapshots (
    study INTEGER NOT NULL,
    part INTEGER NOT NULL,
    number BIGINT NOT NULL,
    data {bytes} NOT NULL,
    PRIMARY KEY (study, part)
)

-- What a rating page shows for an arm, as JSON.
CREATE TABLE standout_items (
    study INTEGER NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (study, position)
)

CREATE TABLE standout_tokens (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    study TEXT,
    label TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION,
    made_by TEXT NOT NULL,
    revoked_by TEXT NOT NULL,
    expires DOUBLE PRECISION,
    salt TEXT NOT NULL,
    hash TEXT NOT NULL
)

-- Logins of browsers: the hash of what the cookie holds, and whose token it was begun with.
CREATE TABLE standout_sessions (
    id TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL
)

-- What is left of deleted studies.
CREATE TABLE standout_deleted (
    study INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    worker TEXT NOT NULL,
    reason TEXT NOT NULL,
    pulls BIGINT NOT NULL,
    events BIGINT NOT NULL,
    head TEXT NOT NULL
)

-- sqlite
CREATE TRIGGER standout_events_kept BEFORE UPDATE ON standout_events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END

-- sqlite: events go only with their whole study, and not without a trace
CREATE TRIGGER standout_events_whole BEFORE DELETE ON standout_events
WHEN NOT EXISTS (SELECT 1 FROM standout_deleted WHERE study = OLD.study)
BEGIN SELECT RAISE(ABORT, 'events are never removed'); END

-- sqlite
CREATE TRIGGER standout_deleted_kept BEFORE UPDATE ON standout_deleted
BEGIN SELECT RAISE(ABORT, 'this is never changed'); END

-- sqlite
CREATE TRIGGER standout_deleted_whole BEFORE DELETE ON standout_deleted
BEGIN SELECT RAISE(ABORT, 'this is never removed'); END

-- postgresql
CREATE FUNCTION standout_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME; END $$

-- postgresql: events go only with their whole study, and not without a trace
CREATE FUNCTION standout_refuse_part() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
IF EXISTS (SELECT 1 FROM standout_deleted WHERE study = OLD.study) THEN RETURN OLD; END IF;
RAISE EXCEPTION 'events are never removed'; END $$

-- postgresql
CREATE TRIGGER standout_events_kept BEFORE UPDATE ON standout_events
FOR EACH ROW EXECUTE FUNCTION standout_refuse()

-- postgresql
CREATE TRIGGER standout_events_whole BEFORE DELETE ON standout_events
FOR EACH ROW EXECUTE FUNCTION standout_refuse_part()

-- postgresql
CREATE TRIGGER standout_deleted_kept BEFORE UPDATE OR DELETE ON standout_deleted
FOR EACH ROW EXECUTE FUNCTION standout_refuse()
