"""psycopg 3: what it is told, line by line. Takes PGHOST, PGPORT, PGUSER and PGDATABASE."""

import asyncio
import datetime
import decimal
import hashlib
import uuid

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool


def say(*words):
    print(*(repr(word) for word in words))


def refused(connection, *statement):
    try:
        with connection.transaction():
            connection.execute(*statement)
    except psycopg.Error as error:
        told = error.diag
        return (type(error).__name__, error.sqlstate, told.severity, told.message_primary,
                told.message_detail, told.message_hint, told.constraint_name,
                told.statement_position, told.source_function)
    return "accepted"


def types(connection):
    values = (-3, 2**62, decimal.Decimal("1.50"), True, "ü€😀", b"\0\1\xff", Jsonb({"a": [1, None]}),
              [1, None, 3], datetime.date(2020, 2, 29), uuid.UUID(int=1), 0.1, None)
    sql = """SELECT %s::int2, %s::int8, %s::numeric, %s::bool, %s::text, %s::bytea, %s::jsonb,
             %s::int[], %s::date, %s::uuid, %s::float8, %s::text"""
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            cursor.execute(sql, values)
            say("types", binary, cursor.fetchone(), [column.type_code for column in cursor.description])
    cursor = connection.execute("SELECT 1; CREATE TABLE told (id int PRIMARY KEY, name text NOT NULL); SELECT 2")
    while True:
        say("several", cursor.statusmessage, cursor.fetchall() if cursor.description else None)
        if not cursor.nextset():
            break


def errors(connection):
    connection.execute("INSERT INTO told VALUES (1, 'a')")
    say("errors", refused(connection, "INSERT INTO told VALUES (%s, 'b')", (1,)))
    say("errors", refused(connection, "INSERT INTO told VALUES (2, NULL)"))
    say("errors", refused(connection, "SELECT nonsense"), refused(connection, "SELECT %s::int", ("x",)))
    say("errors", refused(connection, "SELECT 1 / %s::int", (0,)))


def transactions(connection):
    with connection.transaction():
        connection.execute("INSERT INTO told VALUES (2, 'b')")
        try:
            with connection.transaction():
                connection.execute("INSERT INTO told VALUES (3, 'c')")
                connection.execute("SELECT 1 / 0")
        except psycopg.errors.DivisionByZero:
            say("back to the savepoint", connection.info.transaction_status.name)
    say("kept", connection.execute("SELECT * FROM told ORDER BY id").fetchall())
    with psycopg.connect() as other:
        other.tpc_begin(other.xid(1, "both", "here"))
        other.execute("INSERT INTO told VALUES (9, 'i')")
        other.tpc_prepare()
        other.tpc_rollback()


def prepared(connection):
    for number in range(20):
        row = connection.execute("SELECT %s::int + 1", (number,), prepare=True).fetchone()
        say("prepared", row)
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO told VALUES (%s, %s) RETURNING id",
                       [(number, str(number)) for number in range(100, 600)], returning=True)
    rows = [cursor.fetchone()]
    while cursor.nextset():
        rows.append(cursor.fetchone())
    say("many", rows)


def pipelines(connection):
    with connection.pipeline() as pipeline:
        cursors = [connection.execute("SELECT %s::int", (number,)) for number in range(300)]
        pipeline.sync()
        say("pipeline", [cursor.fetchone()[0] for cursor in cursors])
    try:
        with connection.pipeline():
            connection.execute("INSERT INTO told VALUES (700, 'x')")
            connection.execute("SELECT 1 / 0")
            connection.execute("INSERT INTO told VALUES (701, 'x')")
    except psycopg.Error as error:
        say("pipeline", type(error).__name__, error.sqlstate)
    say("pipeline", connection.execute("SELECT count(*) FROM told WHERE id >= 700").fetchone())


def copies(connection):
    connection.execute("CREATE TABLE copied (id int, name text)")
    with connection.cursor() as cursor:
        with cursor.copy("COPY copied FROM STDIN") as copy:
            for number in range(50_000):
                copy.write_row((number, None if number % 7 == 0 else f"name\t{number}"))
        with cursor.copy("COPY copied FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "text"])
            for number in range(5_000):
                copy.write_row((number, "binary"))
        digest = hashlib.sha256()
        with cursor.copy("COPY copied TO STDOUT (FORMAT BINARY)") as copy:
            for block in copy:
                digest.update(block)
        say("copies", cursor.rowcount, digest.hexdigest())
        with cursor.copy("COPY copied TO STDOUT") as copy:
            say("copies", sum(1 for _ in copy.rows()))
        try:
            with cursor.copy("COPY copied FROM STDIN") as copy:
                copy.write("x\ty\n" * 100_000)
        except psycopg.Error as error:
            say("copies", error.sqlstate, error.diag.message_primary, error.diag.context)
        try:
            with cursor.copy("COPY copied FROM STDIN") as copy:
                copy.write_row((1, "never"))
                raise ValueError("given up")
        except ValueError as error:
            say("copies", str(error), connection.info.transaction_status.name)


def cursors(connection):
    with connection.transaction(), connection.cursor("scrolled", scrollable=True) as cursor:
        cursor.execute("SELECT number, repeat('x', number) FROM generate_series(1, 1000) number")
        say("cursor", cursor.fetchmany(3), cursor.scroll(-2), cursor.fetchone(), cursor.scroll(900, "absolute"))
        say("cursor", len(cursor.fetchall()))
    say("stream", sum(row[0] for row in connection.cursor().stream("SELECT generate_series(1, 5000)")))


def asides(connection):
    notices = []
    connection.add_notice_handler(lambda told: notices.append((told.severity, told.sqlstate, told.message_primary, told.message_hint)))
    connection.execute("DO $$ BEGIN RAISE NOTICE 'n'; RAISE WARNING 'w' USING HINT = 'h'; END $$")
    with psycopg.connect(autocommit=True) as other:
        connection.execute("LISTEN news")
        other.execute("SELECT pg_notify('news', n::text) FROM generate_series(1, 50) n")
        heard = [(notify.channel, notify.payload) for notify in connection.notifies(timeout=20, stop_after=50)]
    say("asides", notices, heard)


def large(connection):
    data = bytes(range(256)) * (20 << 12)
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            row = cursor.execute("SELECT %s::bytea, length(%s::bytea)", (data, data)).fetchone()
            say("large", row[0] == data, row[1])


def pools():
    with ConnectionPool(min_size=2, max_size=2) as pool:
        for number in range(50):
            with pool.connection() as connection:
                say("pool", connection.execute("SELECT %s::int", (number,)).fetchone())
        try:
            with pool.connection() as connection:
                connection.execute("SELECT 1 / 0")
        except psycopg.Error as error:
            say("pool", error.sqlstate)
        with pool.connection() as connection:
            say("pool", connection.execute("SELECT 2").fetchone())


async def asynchronously():
    async with await psycopg.AsyncConnection.connect(autocommit=True) as connection:
        asleep = asyncio.create_task(connection.execute("SELECT pg_sleep(600)"))
        async with await psycopg.AsyncConnection.connect(autocommit=True) as other:
            found = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
            while (await (await other.execute(found, (connection.info.backend_pid,))).fetchone())[0] == 0:
                await asyncio.sleep(0.01)
        await connection.cancel_safe()
        try:
            await asleep
        except psycopg.Error as error:
            say("cancelled", error.sqlstate)
        say("goes on", await (await connection.execute("SELECT 3")).fetchone())


def main():
    with psycopg.connect(autocommit=True) as connection:
        for scene in (types, errors, transactions, prepared, pipelines, copies, cursors, asides, large):
            scene(connection)
    pools()
    asyncio.run(asynchronously())
    try:
        psycopg.connect(dbname="nowhere")
    except psycopg.OperationalError as error:
        say("refused", str(error).rsplit("failed: ", 1)[-1])


main()
