#!/usr/bin/env bash
# Starts and stops a private MariaDB for tests.
#   start_mariadb.sh FOLDER        starts a server with its data in FOLDER and prints its URL
#   start_mariadb.sh halt FOLDER   stops it as a crash would and keeps its data
#   start_mariadb.sh stop FOLDER   stops it and deletes its data
# The server listens on a free port of 127.0.0.1 (or on KSANA_MARIADB_PORT) and on a socket in
# FOLDER. The user of the URL may do everything. The server's certificate is FOLDER/server.pem. Run
# as root, the script starts the server as the user mysql.
set -euo pipefail

die() { printf '%s\n' "$*" >&2; exit 1; }

as_server() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid mysql --regid mysql --init-groups "$@"
    else "$@"; fi
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

runs() {
    [ -e "$1/server.pid" ] &&
        [ "$(cat "/proc/$(cat "$1/server.pid")/comm" 2>/dev/null)" = mariadbd ]
}

create() {
    local folder=$1 password
    # A server that starts deletes the temporary tables of all others that share its tmpdir.
    as_server mkdir -p "$folder/tmp"
    password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    as_server mariadb-install-db --no-defaults --datadir="$folder/data" --skip-test-db \
        --tmpdir="$folder/tmp" --auth-root-authentication-method=normal --innodb-log-file-size=8M \
        >"$folder/install.log" 2>&1 || die "mariadb-install-db: see $folder/install.log"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$folder/server.key" -out "$folder/server.pem" 2>/dev/null
    cat >"$folder/init.sql" <<SQL
CREATE DATABASE IF NOT EXISTS ksana;
CREATE USER IF NOT EXISTS ksana@'%' IDENTIFIED BY '$password';
GRANT ALL ON *.* TO ksana@'%' WITH GRANT OPTION;
SQL
    echo "$password" >"$folder/password"
    if [ "$(id -u)" = 0 ]; then chown mysql: "$folder"/server.* "$folder/init.sql"; fi
}

start() {
    local folder=$1 port
    command -v mariadbd >/dev/null || die "no MariaDB server: install the package mariadb-server"
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    if [ "$(id -u)" = 0 ]; then chown mysql: "$folder"; fi
    cd "$folder"
    [ -e password ] || create "$folder"
    port=${KSANA_MARIADB_PORT:-$(free_port)}
    # shellcheck disable=SC2024
    as_server setsid mariadbd --no-defaults --datadir="$folder/data" --port="$port" \
        --tmpdir="$folder/tmp" \
        --bind-address=127.0.0.1 --socket="$folder/server.sock" --pid-file="$folder/server.pid" \
        --init-file="$folder/init.sql" --skip-name-resolve --max-connections=500 \
        --innodb-buffer-pool-size=32M --innodb-log-file-size=8M --key-buffer-size=1M \
        --aria-pagecache-buffer-size=4M --table-open-cache=200 --skip-symbolic-links \
        --ssl-cert="$folder/server.pem" --ssl-key="$folder/server.key" \
        >>"$folder/server.log" 2>&1 </dev/null &
    for _ in $(seq 300); do
        if mariadb-admin --no-defaults --socket="$folder/server.sock" -u root ping \
            >/dev/null 2>&1; then
            echo "mariadb://ksana:$(cat password)@127.0.0.1:$port/ksana"
            return
        fi
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    die "the server did not start: see $folder/server.log"
}

halt() {
    local folder=$1
    runs "$folder" || return 0
    kill -KILL "$(cat "$folder/server.pid")"
    while runs "$folder"; do sleep 0.05; done
    rm -f "$folder/server.pid"
}

stop() {
    local folder=$1
    [ -e "$folder/password" ] || return 0
    halt "$folder"
    rm -rf "${folder:?}/data" "$folder/tmp" "$folder/password"
}

case ${1:-} in
stop | halt) "$1" "${2:?which folder}" ;;
'' | -*) die "usage: start_mariadb.sh FOLDER | start_mariadb.sh halt|stop FOLDER" ;;
*) start "$1" ;;
esac
