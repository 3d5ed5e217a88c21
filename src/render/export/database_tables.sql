-- The tables of an exported database. memsnap-export(1) documents them, and both numbers;
-- application_id is "msnp".
PRAGMA application_id = 1836281456;
PRAGMA user_version = 1;

CREATE TABLE devices (
    device INTEGER PRIMARY KEY, events INTEGER, active_baseline_bytes INTEGER,
    active_peak_bytes INTEGER, active_peak_position INTEGER, active_peak_event INTEGER,
    active_peak_time_us INTEGER, active_end_bytes INTEGER, allocated_baseline_bytes INTEGER,
    allocated_peak_bytes INTEGER, allocated_peak_event INTEGER, allocated_end_bytes INTEGER,
    reserved_start_bytes INTEGER, reserved_peak_bytes INTEGER, reserved_peak_event INTEGER,
    reserved_end_bytes INTEGER, reserved_at_active_peak_bytes INTEGER, unexplained_bytes INTEGER
);

CREATE TABLE categories (
    device INTEGER REFERENCES devices, category TEXT, peak_bytes INTEGER, peak_count INTEGER,
    PRIMARY KEY(device, category)
) WITHOUT ROWID;

CREATE TABLE sites (
    site INTEGER PRIMARY KEY, label TEXT, operator TEXT
);

CREATE TABLE frames (
    frame INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER, kind TEXT
);

CREATE TABLE stacks (
    stack INTEGER PRIMARY KEY, site INTEGER REFERENCES sites, frame INTEGER REFERENCES frames
);

CREATE TABLE stack_frames (
    stack INTEGER REFERENCES stacks, depth INTEGER, frame INTEGER REFERENCES frames,
    PRIMARY KEY(stack, depth)
) WITHOUT ROWID;

CREATE TABLE events (
    device INTEGER REFERENCES devices, event INTEGER, position INTEGER, action TEXT,
    address INTEGER, size INTEGER, device_free INTEGER, time_us INTEGER, stream INTEGER,
    pool_id_0 INTEGER, pool_id_1 INTEGER, stack INTEGER REFERENCES stacks,
    forward_stack INTEGER REFERENCES stacks, category TEXT, compile_context TEXT,
    user_metadata TEXT, internal_metadata TEXT, PRIMARY KEY(device, event)
) WITHOUT ROWID;

CREATE TABLE allocations (
    id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices, address INTEGER, size INTEGER,
    rounded_size INTEGER, stream INTEGER, pool_id_0 INTEGER, pool_id_1 INTEGER, category TEXT,
    confidence TEXT, reason TEXT, origin TEXT, counts_in TEXT, birth_event INTEGER,
    birth_position INTEGER, birth_time_us INTEGER, birth_phase TEXT, birth_step INTEGER,
    free_requested_event INTEGER, free_requested_time_us INTEGER, death_event INTEGER,
    death_position INTEGER, death_time_us INTEGER, death_phase TEXT, death_step INTEGER,
    site INTEGER REFERENCES sites, stack INTEGER REFERENCES stacks,
    forward_stack INTEGER REFERENCES stacks, annotation TEXT
);

CREATE TABLE segments (
    id INTEGER PRIMARY KEY, moment TEXT, device INTEGER REFERENCES devices, address INTEGER,
    size INTEGER, segment_type TEXT, stream INTEGER, pool_id_0 INTEGER, pool_id_1 INTEGER,
    is_expandable INTEGER, blocks INTEGER, allocated_size INTEGER, active_size INTEGER,
    requested_size INTEGER, inactive_size INTEGER, largest_inactive_block INTEGER
);

CREATE TABLE blocks (
    id INTEGER PRIMARY KEY, moment TEXT, device INTEGER REFERENCES devices,
    segment_address INTEGER, address INTEGER, size INTEGER, requested_size INTEGER, state TEXT,
    category TEXT, confidence TEXT, birth_event INTEGER, birth_time_us INTEGER,
    site INTEGER REFERENCES sites, stack INTEGER REFERENCES stacks, annotation TEXT
);

CREATE TABLE annotations (
    id INTEGER PRIMARY KEY, device INTEGER, stage TEXT, name TEXT, time_us INTEGER
);

CREATE TABLE steps (
    id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices, step INTEGER,
    first_event INTEGER, last_event INTEGER, last_position INTEGER, is_complete INTEGER,
    peak_bytes INTEGER, peak_event INTEGER, end_bytes INTEGER
);

CREATE TABLE phases (
    id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices, phase TEXT, first_event INTEGER,
    last_event INTEGER
);

CREATE TABLE settings (
    id INTEGER PRIMARY KEY, key TEXT, value TEXT
);
