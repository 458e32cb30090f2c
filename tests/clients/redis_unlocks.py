"""redis-py: a lease given back while a fault waits, and what its application is told.

Takes KEY and REDIS_PORT; PATIENCE: how many seconds a reply may take. Prints one line of JSON: what each
attempt came to, and each command afterwards.
"""

import json
import os
import time

import redis

KEY = os.environ["KEY"]
PATIENCE = float(os.environ["PATIENCE"]) if "PATIENCE" in os.environ else None
UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


def unlocked(unlock, lock, token):
    """Attempts until it is certain whose the lock is."""
    attempts = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            attempts.append(str(unlock(keys=[lock], args=[token])))
            break
        except redis.RedisError as error:
            attempts.append(type(error).__name__)
        time.sleep(0.05)
    return attempts


with redis.Redis(host="127.0.0.1", port=int(os.environ["REDIS_PORT"]), socket_timeout=PATIENCE) as client:
    unlock = client.register_script(UNLOCK)
    # The script is known from then on.
    client.set(f"lock:warm:{KEY}", "token-of-warming", nx=True, px=60_000)
    unlocked(unlock, f"lock:warm:{KEY}", "token-of-warming")
    client.set(f"lock:{KEY}", f"token-of-{KEY}", nx=True, px=60_000)
    attempts = unlocked(unlock, f"lock:{KEY}", f"token-of-{KEY}")
    after = []
    for number in range(6):
        client.set(f"after:{KEY}:{number}", str(number))
        after.append(client.get(f"after:{KEY}:{number}").decode())
print(json.dumps({"driver": "redis-py", "version": redis.__version__, "attempts": attempts, "after": after}))
