#!/usr/bin/env bash
# Starts and stops a private etcd for tests.
#   start_etcd.sh FOLDER        starts a server with its data in FOLDER and prints its URL
#   start_etcd.sh kill FOLDER   ends the server at once; started again, it has its data
#   start_etcd.sh stop FOLDER   ends it and deletes its data
# The server listens on free ports of 127.0.0.1. A FOLDER that was used before keeps its ports and,
# unless they were deleted, its data. FOLDER/pid has the id of the process, FOLDER/server.log its
# messages. fsync stays on: etcd 3.4 cannot go without. The short election timeout allows leases of
# one second. With KSANA_ETCD_TLS=1 it speaks TLS with a certificate that FOLDER/ca.pem verifies.
set -euo pipefail

die() { printf '%s\n' "$*" >&2; exit 1; }

free_ports() {
    python3 -c 'import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))'
}

# A process that has ended stays as a zombie (Z) for a while.
running() {
    [ -e "$1/pid" ] && [ -e "/proc/$(cat "$1/pid")/stat" ] &&
        ! grep -q ') Z ' "/proc/$(cat "$1/pid")/stat" 2>/dev/null
}

make_certificate() {
    [ -e "$1/ca.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ksana-test \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$1/key.pem" -out "$1/ca.pem" 2>/dev/null
}

healthy() {
    python3 -c 'import sys, urllib.request
import ssl
context = ssl.create_default_context(cafile=sys.argv[2]) if len(sys.argv) > 2 else None
answer = urllib.request.urlopen(sys.argv[1] + "/health", timeout=1, context=context).read()
sys.exit(b"true" not in answer)' \
        "$@" 2>/dev/null
}

start() {
    local folder=$1 client peer scheme=http tls=() ca=()
    command -v etcd >/dev/null || die "no etcd server: install the package etcd-server"
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    running "$folder" && die "a server runs in $folder already"
    [ -e "$folder/ports" ] || free_ports >"$folder/ports"
    read -r client peer <"$folder/ports"
    if [ -n "${KSANA_ETCD_TLS:-}" ]; then
        make_certificate "$folder"
        scheme=https tls=(--cert-file "$folder/ca.pem" --key-file "$folder/key.pem")
        ca=("$folder/ca.pem")
    fi
    # With a session of its own, so that an interrupted test does not end it before the test does.
    setsid etcd --name test --data-dir "$folder/data" --logger zap --log-outputs stderr \
        --listen-client-urls "$scheme://127.0.0.1:$client" \
        --advertise-client-urls "$scheme://127.0.0.1:$client" \
        --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "test=http://127.0.0.1:$peer" \
        --heartbeat-interval 50 --election-timeout 500 "${tls[@]}" \
        </dev/null >>"$folder/server.log" 2>&1 &
    echo $! >"$folder/pid"
    for _ in $(seq 300); do
        running "$folder" || die "the server did not start: see $folder/server.log"
        healthy "$scheme://127.0.0.1:$client" "${ca[@]}" &&
            { echo "etcd://127.0.0.1:$client"; return; }
        sleep 0.1
    done
    die "the server does not answer: see $folder/server.log"
}

end() {
    running "$1" || return 0
    kill -KILL "$(cat "$1/pid")"
    while running "$1"; do sleep 0.02; done
}

stop() {
    local folder=$1
    [ -e "$folder/ports" ] || return 0
    end "$folder"
    rm -rf "${folder:?}/data" "$folder/pid" "$folder/ports"
}

case ${1:-} in
kill) end "${2:?which folder}" ;;
stop) stop "${2:?which folder}" ;;
'' | -*) die "usage: start_etcd.sh FOLDER | start_etcd.sh kill|stop FOLDER" ;;
*) start "$1" ;;
esac
