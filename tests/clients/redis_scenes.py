"""redis-py: what it is told, line by line. Takes REDIS_PORT and PROTOCOL."""

import asyncio
import hashlib
import os
import threading
import time

import redis
import redis.asyncio
from redis.cache import CacheConfig

ADDRESS = {"host": "127.0.0.1", "port": int(os.environ["REDIS_PORT"]), "protocol": int(os.environ["PROTOCOL"])}


def say(*words):
    print(*(repr(word) for word in words))


def refused(asked, *values):
    try:
        return asked(*values)
    except redis.RedisError as error:
        return type(error).__name__, str(error)


def until(claim):
    deadline = time.monotonic() + 20
    while not claim():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.005)


def types(client):
    say("strings", client.set("a", 1), client.get("a"), client.get("missing"), client.set("a", 2, nx=True),
        client.incrbyfloat("a", 0.5), client.set("gone", 1, ex=100), client.ttl("gone") > 90)
    client.hset("hash", mapping={"x": 1, "y": "ü", "z": b"\r\n\0"})
    client.zadd("scores", {"one": 1.5, "two": float("inf")})
    client.rpush("list", *range(500))
    client.sadd("set", "only")
    client.xadd("stream", {"field": "value"}, id="1-1")
    client.xgroup_create("stream", "group", id="0")
    say("structures", client.hgetall("hash"), client.zrange("scores", 0, -1, withscores=True),
        client.lrange("list", 0, -1), client.smembers("set"), client.xrange("stream"),
        client.xreadgroup("group", "me", {"stream": ">"}), client.geoadd("geo", (13.4, 52.5, "b")), client.geopos("geo", "b", "c"))
    say("wrong", refused(client.incr, "hash"), refused(client.execute_command, "NONSENSE"))
    kinds = ["null", "map", "set", "double", "bignum", "true", "verbatim", "integer", "array", "string"]
    for kind in kinds:
        say("protocol", kind, refused(client.execute_command, "DEBUG", "PROTOCOL", kind))


def atomic(client):
    with client.pipeline(transaction=False) as pipeline:
        for number in range(5000):
            pipeline.set(f"p{number}", number).get(f"p{number}").lpop("a")
        say("pipeline", [str(one) for one in pipeline.execute(raise_on_error=False)])
    with client.pipeline() as pipeline:
        say("multi", pipeline.set("m", 1).incr("m").get("m").execute())
        say("multi", refused(pipeline.set("m", 1).execute_command("NONSENSE").execute))
    with client.pipeline() as pipeline:
        pipeline.watch("m")
        client.set("m", 9)
        pipeline.multi()
        pipeline.set("m", 10)
        say("watch", refused(pipeline.execute), client.get("m"))


def scripts(client):
    script = client.register_script("return {KEYS[1], ARGV[1], {1, {2}}, redis.call('GET', KEYS[1])}")
    say("script", script(keys=["a"], args=["v"]), script(keys=["a"], args=["w"]))
    say("script", refused(client.evalsha, "0" * 40, 0), refused(client.eval, "return redis.call('INCR', 'hash')", 0))
    say("script", refused(client.eval, "return redis.error_reply('OWN words')", 0))


def waits(client):
    popped = []
    blocked = threading.Thread(target=lambda: popped.append(client.blpop("queue", timeout=20)))
    blocked.start()
    until(lambda: any(one["cmd"] == "blpop" for one in client.client_list()))
    client.rpush("queue", "late")
    blocked.join()
    say("blocking", popped, client.brpop("queue", timeout=0.05), client.blmove("queue", "other", 0.05))


def news(client):
    with client.pubsub() as listener:
        listener.subscribe("news")
        listener.psubscribe("new*")
        until(lambda: client.pubsub_numpat() == 1)
        for number in range(200):
            client.publish("news", f"number {number}" + "x" * number * 10)
        heard = [listener.get_message(timeout=20) for _ in range(402)]
        say("heard", heard[:3], hashlib.sha256(repr(heard).encode()).hexdigest())
        listener.unsubscribe()
        say("left", listener.get_message(timeout=20))


def watching(client):
    with client.monitor() as monitor:
        for number in range(20):
            client.set("watched", number)
        told = []
        while len(told) < 20:
            one = monitor.next_command()
            if "watched" in one["command"]:
                told.append((one["db"], one["command"]))
        say("monitor", told)


def caching(client):
    if ADDRESS["protocol"] != 3:
        return
    cached = redis.Redis(**ADDRESS, cache_config=CacheConfig())
    client.set("cached", "old")
    try:
        cached.ping()
    except redis.ConnectionError as error:
        # It wants a newer server than many systems have; redis-cli shows the pushes there.
        say("cached", str(error))
        return
    say("cached", cached.get("cached"), cached.get("cached"), cached.get_cache().size)
    client.set("cached", "new")
    until(lambda: cached.get("cached") == b"new")
    say("cached", cached.get("cached"), cached.get_cache().size)
    cached.close()


def large(client):
    data = bytes(range(256)) * (32 << 12)
    client.set("large", data)
    say("large", client.get("large") == data, client.strlen("large"), client.getrange("large", 5, 9))
    client.mset({f"many{number}": "y" * 1000 for number in range(10_000)})
    say("large", sum(len(one) for one in client.mget([f"many{number}" for number in range(10_000)])))
    say("scan", len(set(client.scan_iter("many*", count=500))))


async def asynchronously():
    async with redis.asyncio.Redis(**ADDRESS, max_connections=10) as client:
        say("at once", await asyncio.gather(*(client.incr(f"own{number % 7}") for number in range(7))))
        async with client.pipeline() as pipeline:
            for number in range(500):
                pipeline.rpush("async", number)
            say("at once", await pipeline.lrange("async", 0, -1).execute())


def main():
    client = redis.Redis(**ADDRESS)
    for scene in (types, atomic, scripts, waits, news, watching, caching, large):
        scene(client)
    client.close()
    asyncio.run(asynchronously())
    wrong = redis.Redis(**ADDRESS, username="nobody", password="wrong")
    say("login", refused(wrong.ping))


main()
