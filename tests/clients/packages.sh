# Sourced behind ground.sh: clients of Python and Node, in the folder of the run.

# Names and versions of what is asked for; the newest that a registry has unless they are pinned here.
python_clients=('psycopg[binary,pool]==3.3.9' 'asyncpg==0.32.0' 'redis==8.1.0')
node_clients=(pg pg-cursor ioredis)

# need PROGRAM:PACKAGE...: ends the script, with the cure, where programs are missing.
need() {
  local missing=() one
  for one in "$@"; do
    command -v "${one%%:*}" >/dev/null || missing+=("${one##*:}")
  done
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  if [ ${#missing[@]} -gt 0 ]; then
    say "programs are missing. Install them (apt-get install ${missing[*]}), then run this again."
    exit 4
  fi
}

install_clients() {
  say "installing clients"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q "${python_clients[@]}"
  mkdir "$folder/node"
  (cd "$folder/node" && echo '{"private": true}' >package.json && npm install --silent --no-audit --no-fund "${node_clients[@]}" >&2)
  export NODE_PACKAGES=$folder/node
}

versions_of_servers() {
  postgres --version 2>/dev/null || "$(of_postgres postgres)" --version
  redis-server --version | sed 's/ sha=.*//'
}

versions_of_clients() {
  "$folder/venv/bin/python" --version
  "$folder/venv/bin/pip" freeze | grep -i -E '^(psycopg|asyncpg|redis|pytest|uvloop)'
  echo "node $(node --version)"
  (cd "$folder/node" && npm ls --depth 0 2>/dev/null | sed -n 's/^[^ ]* \([a-z-]*@\)/\1/p')
}

# The head of a page under docs/measured: write_head TITLE COMMAND, with the versions on stdin.
write_head() {
  echo "# $1"
  echo
  echo "- date: $(date -u +%F)"
  echo "- command: \`$2\`"
  echo "- machine: $(nproc) cores, $(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo) GiB, Linux $(uname -r)"
  echo "- versions: $(paste -s -d ';' | sed 's/;/; /g')"
  echo
}
