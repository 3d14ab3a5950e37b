#!/usr/bin/env bash
# Starts and stops a private PostgreSQL for tests and benchmarks.
#   start_postgres.sh FOLDER        starts a server with its data in FOLDER and prints its URL
#   start_postgres.sh halt FOLDER   stops it as a crash would and keeps its data
#   start_postgres.sh stop FOLDER   stops it and deletes its data
# The server listens on a free port of 127.0.0.1 (or on KSANA_POSTGRES_PORT) and on a socket in
# FOLDER. fsync stays on. Run as root, the script starts the server as the user postgres, since
# PostgreSQL refuses to run as root.
set -euo pipefail

die() { printf '%s\n' "$*" >&2; exit 1; }

find_bin() {
    local folder
    for folder in /usr/lib/postgresql/*/bin; do
        [ -x "$folder/initdb" ] && { echo "$folder"; return; }
    done
    command -v initdb >/dev/null && { dirname "$(command -v initdb)"; return; }
    die "no PostgreSQL server: install the package postgresql"
}

as_server() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --init-groups "$@"
    else "$@"; fi
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

start() {
    local folder=$1 bin port
    bin=$(find_bin)
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    [ "$(id -u)" = 0 ] && chown postgres: "$folder"
    cd "$folder"
    if [ ! -e data/PG_VERSION ]; then
        as_server "$bin/initdb" -D "$folder/data" -U ksana --auth=trust -E UTF8 \
            --locale=C.UTF-8 >"$folder/initdb.log" 2>&1 || die "initdb: see $folder/initdb.log"
    fi
    port=${KSANA_POSTGRES_PORT:-$(free_port)}
    # Tests terminate connections and let calls time out; the messages go to a log file.
    as_server "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 -o \
        "-p $port -k $folder -h 127.0.0.1 -c max_connections=400 -c shared_buffers=256MB \
         -c max_wal_size=4GB ${KSANA_POSTGRES_OPTIONS:-}" start >/dev/null ||
        die "the server did not start: see $folder/server.log"
    echo "postgresql://ksana@127.0.0.1:$port/postgres"
}

halt() {
    local folder=$1
    [ -e "$folder/data/PG_VERSION" ] || return 0
    folder=$(cd "$folder" && pwd)
    cd "$folder"
    as_server "$(find_bin)/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 ||
        true
}

stop() {
    halt "$1"
    rm -rf "${1:?}/data"
}

case ${1:-} in
stop | halt) "$1" "${2:?which folder}" ;;
'' | -*) die "usage: start_postgres.sh FOLDER | start_postgres.sh halt|stop FOLDER" ;;
*) start "$1" ;;
esac
