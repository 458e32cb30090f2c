"""asyncpg: what it is told, line by line. Takes PGHOST, PGPORT, PGUSER and PGDATABASE."""

import asyncio
import datetime
import decimal
import hashlib
import io
import uuid

import asyncpg


def say(*words):
    print(*(repr(word) for word in words))


async def refused(asked):
    try:
        await asked
    except asyncpg.PostgresError as error:
        return type(error).__name__, error.sqlstate, *(
            getattr(error, name) for name in ("message", "detail", "hint", "constraint_name", "position"))
    return "accepted"


async def types(connection):
    values = (-3, 2**62, decimal.Decimal("1.50"), True, "ü€😀", b"\0\1\xff", '{"a": [1, null]}', [1, None, 3],
              datetime.date(2020, 2, 29), uuid.UUID(int=1), 0.1, None, datetime.timedelta(days=3, microseconds=5))
    sql = """SELECT $1::int2, $2::int8, $3::numeric, $4::bool, $5::text, $6::bytea, $7::jsonb, $8::int[],
             $9::date, $10::uuid, $11::float8, $12::text, $13::interval"""
    say("types", tuple(await connection.fetchrow(sql, *values)))
    await connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TYPE pair AS (a int, b mood)")
    say("types", await connection.fetchval("SELECT $1::mood", "glad"),
        tuple(await connection.fetchval("SELECT ROW(1, 'sad')::pair")),
        await connection.fetchval("SELECT ARRAY[$1::pair]::pair[]", (2, "glad")))


async def errors(connection):
    await connection.execute("CREATE TABLE told (id int PRIMARY KEY, name text NOT NULL)")
    await connection.execute("INSERT INTO told VALUES (1, 'a')")
    for sql, *values in (("INSERT INTO told VALUES ($1, 'b')", 1), ("INSERT INTO told VALUES (2, NULL)",),
                         ("SELECT nonsense",), ("SELECT 1 / $1::int", 0), ("SELEC",)):
        say("errors", await refused(connection.fetch(sql, *values)))


async def transactions(connection):
    async with connection.transaction(isolation="serializable"):
        await connection.execute("INSERT INTO told VALUES (2, 'b')")
        try:
            async with connection.transaction():
                await connection.execute("INSERT INTO told VALUES (3, 'c')")
                await connection.execute("SELECT 1 / 0")
        except asyncpg.DivisionByZeroError:
            say("back to the savepoint", connection.is_in_transaction())
    say("kept", [tuple(row) for row in await connection.fetch("SELECT * FROM told ORDER BY id")])


async def prepared(connection):
    statement = await connection.prepare("SELECT name, $1::int + 1 AS more FROM told WHERE id = $1")
    say("prepared", [(one.name, one.type.name) for one in statement.get_attributes()])
    for number in (1, 2, 3):
        say("prepared", [tuple(row) for row in await statement.fetch(number)], statement.get_statusmsg())
    await connection.executemany("INSERT INTO told VALUES ($1, $2)", [(n, str(n)) for n in range(100, 5100)])
    again = [(n, "again") for n in (6000, 6001, 100)]
    say("many", await refused(connection.executemany("INSERT INTO told VALUES ($1, $2)", again)))
    say("many", await connection.fetchval("SELECT count(*) FROM told"))
    say("changed", await connection.fetchval("SELECT told FROM told WHERE id = 1"))
    await connection.execute("ALTER TABLE told ADD more int DEFAULT 5")
    try:
        await connection.fetchval("SELECT told FROM told WHERE id = 1")
    except asyncpg.OutdatedSchemaCacheError as error:
        say("changed", str(error))
    say("changed", await connection.fetchval("SELECT told FROM told WHERE id = 1"))


async def copies(connection):
    await connection.execute("CREATE TABLE copied (id int, name text)")
    records = [(n, None if n % 7 == 0 else f"name\t{n}") for n in range(50_000)]
    say("copies", await connection.copy_records_to_table("copied", records=records))
    out = io.BytesIO()
    say("copies", await connection.copy_from_query("SELECT * FROM copied ORDER BY id", output=out, format="csv"))
    say("copies", hashlib.sha256(out.getvalue()).hexdigest())
    out.seek(0)
    say("copies", await connection.copy_to_table("copied", source=out, format="csv"))
    say("copies", await refused(connection.copy_to_table("copied", source=io.BytesIO(b"x,y\n" * 100_000), format="csv")))


async def cursors(connection):
    async with connection.transaction():
        total = 0
        async for row in connection.cursor("SELECT generate_series(1, $1::int)", 5000, prefetch=100):
            total += row[0]
        cursor = await connection.cursor("SELECT generate_series(1, 100)")
        say("cursor", total, [row[0] for row in await cursor.fetch(5)], await cursor.forward(80), (await cursor.fetchrow())[0])


async def asides(connection):
    notices = []
    heard = []
    connection.add_log_listener(lambda _, told: notices.append((told.severity, told.sqlstate, told.message, told.hint)))
    await connection.execute("DO $$ BEGIN RAISE NOTICE 'n'; RAISE WARNING 'w' USING HINT = 'h'; END $$")
    enough = asyncio.get_running_loop().create_future()

    def hear(_connection, _pid, channel, payload):
        heard.append((channel, payload))
        if len(heard) == 50:
            enough.set_result(None)

    await connection.add_listener("news", hear)
    await connection.execute("SELECT pg_notify('news', n::text) FROM generate_series(1, 50) n")
    await asyncio.wait_for(enough, 20)
    await connection.remove_listener("news", hear)
    await asyncio.sleep(0)
    say("asides", notices, heard)


async def large(connection):
    data = bytes(range(256)) * (20 << 12)
    row = await connection.fetchrow("SELECT $1::bytea, length($1::bytea)", data)
    say("large", row[0] == data, row[1])
    rows = await connection.fetch("SELECT n, repeat(md5(n::text), 3) FROM generate_series(1, 100000) n")
    say("large", hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest())


async def ends(connection):
    try:
        await connection.fetch("SELECT pg_sleep(600)", timeout=0.1)
    except TimeoutError:
        say("timed out", await connection.fetchval("SELECT 3"))
    asleep = asyncio.create_task(connection.fetch("SELECT pg_sleep(600)"))
    await asyncio.sleep(0)
    asleep.cancel()
    say("cancelled", await asyncio.wait([asleep]) and asleep.cancelled(), await connection.fetchval("SELECT 4"))
    say("terminated", await refused(connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")))


async def pools():
    async with asyncpg.create_pool(min_size=2, max_size=2) as pool:
        say("pool", await asyncio.gather(*(pool.fetchval("SELECT $1::int + 1", n) for n in range(100))))
        say("pool", await refused(pool.fetchval("SELECT 1 / 0")), await pool.fetchval("SELECT 2"))


async def main():
    connection = await asyncpg.connect()
    for scene in (types, errors, transactions, prepared, copies, cursors, asides, large, ends):
        await scene(connection)
    await pools()
    say("refused", await refused(asyncpg.connect(database="nowhere")))


asyncio.run(main())
