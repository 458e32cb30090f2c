"""psycopg 3: an order through a pool on which a fault waits, and what its application is told.

Takes KEY, PGHOST, PGPORT, PGUSER and PGDATABASE; WAY=pipeline places it in pipeline mode. Prints one line of
JSON: what each attempt came to, and each order afterwards.
"""

import contextlib
import json
import logging
import os
import time

import psycopg
from psycopg_pool import ConnectionPool

KEY = os.environ["KEY"]
PIPELINE = os.environ.get("WAY") == "pipeline"


def placed(connection, key):
    """One attempt, in a word."""
    try:
        with connection.pipeline() if PIPELINE else contextlib.nullcontext(), connection.transaction():
            connection.execute("INSERT INTO orders VALUES (%s)", (key,))
            connection.execute("INSERT INTO lines VALUES (%s)", (key,))
    except psycopg.Error as error:
        return error.sqlstate or f"{type(error).__name__}, {'closed' if connection.closed else 'open'}"
    return "placed"


def order(pool, key):
    """Attempts until it is certain. What can be repeated at once is, on the same connection."""
    attempts = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with pool.connection() as connection:
            while True:
                attempts.append(placed(connection, key))
                if attempts[-1] != "40001":
                    break
        if attempts[-1] in ("placed", "23505"):
            break
        time.sleep(0.05)
    return attempts


# The pool says on its own that it replaces connections.
logging.disable(logging.WARNING)
with ConnectionPool(min_size=1, max_size=1, timeout=20) as pool:
    attempts = order(pool, KEY)
    after = [word for number in range(6) for word in order(pool, f"{KEY}-after-{number}")]
print(json.dumps({"driver": "psycopg", "version": psycopg.__version__, "attempts": attempts, "after": after}))
