-- What happened in each conversation; `run::Run` is rebuilt from it.
CREATE TABLE IF NOT EXISTS increment (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    increment TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The last head of each conversation.
CREATE TABLE IF NOT EXISTS head (
    run TEXT PRIMARY KEY,
    head TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the user wrote, for the page: messages of a run are in the provider's format.
CREATE TABLE IF NOT EXISTS question (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    round INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

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
    reason TEXT NOT NULL
) STRICT;
