# Sourced: a PostgreSQL, a Redis and the proxies in front of them, for as long as the script runs.
# The servers are private: free ports, a temporary folder, an unprivileged user where we are root. All
# of it is ended by pid, whatever ends the script.

pids=()
folder=$(mktemp -d "${TMPDIR:-/tmp}/dupeproof-clients.XXXXXX")
chmod 711 "$folder"

end_all() {
  local pid
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  # A postmaster would wait for its sessions after TERM.
  [ -z "${postmaster:-}" ] || kill -QUIT "$postmaster" 2>/dev/null || true
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap end_all EXIT
trap 'exit 130' INT TERM HUP

# Runs a command when it succeeds at last, for 30 s at most.
until_it() {
  local deadline=$((SECONDS + 30))
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || { say "waited 30 s for: $*"; return 1; }
    sleep 0.05
  done
}

as_server() {
  if [ "$(id -u)" = 0 ]; then
    exec setpriv --reuid nobody --regid nogroup --clear-groups env -C / LC_ALL=C "$@"
  fi
  exec env -C / LC_ALL=C "$@"
}

of_postgres() {
  local found
  for found in "$(command -v "$1" || true)" /usr/lib/postgresql/*/bin/"$1" /usr/local/pgsql/bin/"$1"; do
    # A wrapper of a distribution may insist on its own clusters; the programs beside initdb don't.
    if [ -x "$found" ]; then echo "$found"; return; fi
  done
  return 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_servers() {
  mkdir -m 700 "$folder/postgres" "$folder/redis"
  [ "$(id -u)" != 0 ] || chown nobody:nogroup "$folder/postgres" "$folder/redis"
  postgres_port=$(free_port)
  redis_port=$(free_port)
  (as_server redis-server --bind 127.0.0.1 --port "$redis_port" --dir "$folder/redis" --save '' \
    --enable-debug-command yes --daemonize no >"$folder/redis.log" 2>&1) &
  pids+=($!)
  (as_server "$(of_postgres initdb)" -D "$folder/postgres" -U postgres -A trust --no-sync \
    --locale=C -E UTF8 >"$folder/initdb.log" 2>&1)
  (as_server "$(of_postgres postgres)" -D "$folder/postgres" -p "$postgres_port" \
    -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
    -c dynamic_shared_memory_type=mmap -c max_prepared_transactions=20 -c max_connections=200 \
    -c wal_level=logical >"$folder/postgres.log" 2>&1) &
  postmaster=$!
  pids+=("$postmaster")
  until_it redis-cli -p "$redis_port" ping
  until_it psql -X -h 127.0.0.1 -p "$postgres_port" -U postgres -c 'SELECT 1'
}
