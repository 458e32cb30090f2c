"""asyncpg: an order through a pool on which a fault waits, and what its application is told.

Takes KEY, PGHOST, PGPORT, PGUSER and PGDATABASE; PATIENCE: how many seconds a statement may take. Prints
one line of JSON: what each attempt came to, and each order afterwards.
"""

import asyncio
import json
import os
import time

import asyncpg

KEY = os.environ["KEY"]
PATIENCE = float(os.environ["PATIENCE"]) if "PATIENCE" in os.environ else None


async def placed(connection, key):
    """One attempt, in a word."""
    try:
        async with connection.transaction():
            await connection.execute("INSERT INTO orders VALUES ($1)", key)
            await connection.execute("INSERT INTO lines VALUES ($1)", key)
    except asyncpg.PostgresError as error:
        return error.sqlstate
    except (OSError, asyncpg.InterfaceError) as error:
        return type(error).__name__
    return "placed"


async def order(pool, key):
    """Attempts until it is certain. What can be repeated at once is, on the same connection."""
    attempts = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            async with pool.acquire() as connection:
                while True:
                    attempts.append(await placed(connection, key))
                    if attempts[-1] != "40001":
                        break
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            # Giving the connection back.
            attempts.append(f"{type(error).__name__} at release")
        if attempts[-1] in ("placed", "23505"):
            break
        await asyncio.sleep(0.05)
    return attempts


async def main():
    async with asyncpg.create_pool(min_size=1, max_size=1, command_timeout=PATIENCE) as pool:
        attempts = await order(pool, KEY)
        after = [word for number in range(6) for word in await order(pool, f"{KEY}-after-{number}")]
    print(json.dumps({"driver": "asyncpg", "version": asyncpg.__version__, "attempts": attempts, "after": after}))


asyncio.run(main())
