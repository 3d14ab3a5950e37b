#!/usr/bin/env bash
# Starts and stops a private Redis for tests and benchmarks.
#   start_redis.sh FOLDER [OPTION…]  starts a server with its files in FOLDER and prints its URL
#   start_redis.sh stop FOLDER       stops it and deletes its data
# Options: --tls (a certificate for localhost and 127.0.0.1, FOLDER/cert.pem, made on first use),
# --port N (default: a free one), and any other is an option of redis-server, as
# `--appendonly yes`. The server listens on 127.0.0.1 and keeps its data in memory only. Its process
# id is in FOLDER/redis.pid.
set -euo pipefail

die() { printf '%s\n' "$*" >&2; exit 1; }

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

make_certificate() {
    [ -e "$1/cert.pem" ] && return
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' \
        -keyout "$1/key.pem" -out "$1/cert.pem" 2>/dev/null
}

# Waits for the line that the server writes when it serves clients; 10 s at most.
await_ready() {
    timeout 10 bash -c 'until grep -q "Ready to accept connections" "$1" 2>/dev/null; do
        kill -0 "$2" 2>/dev/null || exit 1; sleep 0.02; done' - "$1" "$2"
}

start() {
    local folder=$1 port='' scheme=redis query='' arguments=() pid tls=''
    shift
    command -v redis-server >/dev/null || die "no Redis server: install the package redis-server"
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    while [ $# -gt 0 ]; do
        case $1 in
        --tls) tls=yes ;;
        --port) port=$2; shift ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    [ -n "$port" ] || port=$(free_port)
    if [ -n "$tls" ]; then
        make_certificate "$folder"
        scheme=rediss query="?ca_file=$folder/cert.pem"
        arguments+=(--port 0 --tls-port "$port" --tls-auth-clients no
            --tls-cert-file "$folder/cert.pem" --tls-key-file "$folder/key.pem")
    else
        arguments+=(--port "$port")
    fi
    rm -f "$folder/redis.log"
    redis-server --bind 127.0.0.1 --dir "$folder" --save '' --appendonly no --databases 4 \
        --logfile "$folder/redis.log" "${arguments[@]}" </dev/null >"$folder/start.log" 2>&1 &
    pid=$!
    echo "$pid" >"$folder/redis.pid"
    await_ready "$folder/redis.log" "$pid" ||
        die "the server did not start: see $folder/redis.log and $folder/start.log"
    echo "$scheme://127.0.0.1:$port$query"
}

stop() {
    local folder=$1 pid
    [ -e "$folder/redis.pid" ] || return 0
    pid=$(cat "$folder/redis.pid")
    # A server that a test has stopped or killed is already gone, or must go on to end.
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = redis-server ]; then
        kill -KILL "$pid" 2>/dev/null || true
        # Its parent may take a while to collect it, but then it has no files and no port any more.
        timeout 10 bash -c 'while [ -n "$(ls "/proc/$1/fd" 2>/dev/null)" ]; do sleep 0.01; done' \
            - "$pid"
    fi
    rm -f "$folder/redis.pid" "$folder/dump.rdb"
    rm -rf "$folder/appendonlydir"
}

case ${1:-} in
stop) stop "${2:?which folder}" ;;
'' | -*) die "usage: start_redis.sh FOLDER [OPTION…] | start_redis.sh stop FOLDER" ;;
*) start "$@" ;;
esac
