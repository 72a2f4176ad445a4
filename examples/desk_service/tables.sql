-- Who may use the service: clerks ask, a lead decides on what others ask, and an admin may change prices, too. A real
-- service has a sign-in of its own, and keeps no token as it is.
CREATE TABLE IF NOT EXISTS user (
    name TEXT PRIMARY KEY,
    decides INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    token TEXT NOT NULL UNIQUE
) STRICT;
INSERT OR IGNORE INTO user VALUES
    ('clerk-1', 0, 0, lower(hex(randomblob(24)))),
    ('clerk-2', 0, 0, lower(hex(randomblob(24)))),
    ('lead-1', 1, 0, lower(hex(randomblob(24)))),
    ('admin-1', 1, 1, lower(hex(randomblob(24))));

-- The key by which held calls of MCP clients find their decisions, also after a restart.
CREATE TABLE IF NOT EXISTS state_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    bytes BLOB NOT NULL
) STRICT;
INSERT OR IGNORE INTO state_key VALUES (1, randomblob(32));

CREATE TABLE IF NOT EXISTS customer_order (
    number INTEGER PRIMARY KEY,
    article TEXT NOT NULL,
    cents INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO customer_order VALUES
    (1041, 'Desk, oak', 32900),
    (1042, 'Reading lamp', 4800),
    (1043, 'Office chair', 18900);

CREATE TABLE IF NOT EXISTS sale (
    week INTEGER PRIMARY KEY,
    units INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO sale VALUES
    (1, 31), (2, 28), (3, 35), (4, 40), (5, 38), (6, 46),
    (7, 43), (8, 52), (9, 49), (10, 57), (11, 61), (12, 68);

-- The key is that of the call, so that a call that is repeated pays once.
CREATE TABLE IF NOT EXISTS refund (
    key TEXT PRIMARY KEY,
    customer_order INTEGER NOT NULL REFERENCES customer_order,
    cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    owner TEXT NOT NULL
) STRICT;

-- Money of calls that wait for the bank, so that two calls at the same time can't pay the same money.
CREATE TABLE IF NOT EXISTS reservation (
    key TEXT PRIMARY KEY,
    customer_order INTEGER NOT NULL REFERENCES customer_order,
    cents INTEGER NOT NULL
) STRICT;
