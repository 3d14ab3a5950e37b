#!/usr/bin/env bash
# Starts and stops a private RabbitMQ for tests and benchmarks.
#   start_rabbitmq.sh FOLDER         starts a broker with its data in FOLDER and prints its URL
#   start_rabbitmq.sh kill FOLDER    ends it as a crash would; started again, it has its data
#   start_rabbitmq.sh ctl FOLDER …   runs rabbitmqctl on it
#   start_rabbitmq.sh stop FOLDER    ends it and deletes its data
# It prints a second URL for TLS, which names the certificate of the broker, FOLDER/cert.pem.
# KSANA_RABBITMQ_ADDRESS is the address that it listens on, if not 127.0.0.1.
# Everything is its own: the ports of 127.0.0.1 (FOLDER/ports keeps them over a restart), the
# Erlang node with its cookie, and epmd, which finds nodes by name. FOLDER/pid has the id of the
# process, FOLDER/server.log its messages. Run as root, the script starts the broker as the user
# rabbitmq. To install the package rabbitmq-server starts another broker, unless the machine forbids
# it (policy-rc.d); the two do not meet.
set -euo pipefail

PROGRAMS=/usr/lib/rabbitmq/bin

die() { printf '%s\n' "$*" >&2; exit 1; }

# What a command is started with, so that $! is the server and not a shell around it.
AS_SERVER=(setsid)
[ "$(id -u)" != 0 ] || AS_SERVER=(setpriv --reuid rabbitmq --regid rabbitmq --init-groups setsid)

free_ports() {
    python3 -c 'import socket
sockets = [socket.socket() for _ in range(4)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))'
}

# Whether the process of this file runs. One that has ended stays as a zombie (Z) for a while.
running() {
    [ -e "$1" ] && [ -e "/proc/$(cat "$1")/stat" ] &&
        ! grep -q ') Z ' "/proc/$(cat "$1")/stat" 2>/dev/null
}

end() {
    running "$1" || return 0
    kill -KILL "$(cat "$1")" 2>/dev/null || true
    while running "$1"; do sleep 0.02; done
    rm -f "$1"
}

# What the broker and rabbitmqctl must agree on. No file of the system is read.
environment() {
    local folder=$1
    read -r PORT TLS_PORT DIST_PORT EPMD_PORT <"$folder/ports"
    export HOME=$folder ERL_EPMD_PORT=$EPMD_PORT ERL_EPMD_ADDRESS=127.0.0.1
    export RABBITMQ_CONF_ENV_FILE=$folder/none RABBITMQ_NODENAME=ksana_$PORT@localhost
    export RABBITMQ_MNESIA_BASE=$folder/data RABBITMQ_LOGS=- RABBITMQ_DIST_PORT=$DIST_PORT
    export RABBITMQ_ENABLED_PLUGINS_FILE=$folder/enabled_plugins
    export RABBITMQ_CONFIG_FILE=$folder/rabbitmq.conf RABBITMQ_ADVANCED_CONFIG_FILE=$folder/none
    export RABBITMQ_SCHEMA_DIR=$folder/schema RABBITMQ_FEATURE_FLAGS_FILE=$folder/feature_flags
    # Few threads and small tables: ten brokers are to fit on a small machine. erl execs the
    # broker, as it does under systemd, instead of waiting for it: so its process id is known.
    export RUNNING_UNDER_SYSTEMD=true RABBITMQ_MAX_NUMBER_OF_PROCESSES=65536
    export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} \
+S 2:2 +SDio 4 +sbwt none +sbwtdcpu none +sbwtdio none"
    export LANG=C.UTF-8
}

create() {
    local folder=$1 password
    password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    free_ports >"$folder/ports"
    environment "$folder"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
    printf '[].\n' >"$folder/enabled_plugins"
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$folder/.erlang.cookie"
    chmod 400 "$folder/.erlang.cookie"
    cat >"$folder/rabbitmq.conf" <<CONF
listeners.tcp.1 = ${KSANA_RABBITMQ_ADDRESS:-127.0.0.1}:$PORT
listeners.ssl.1 = 127.0.0.1:$TLS_PORT
ssl_options.certfile = $folder/cert.pem
ssl_options.keyfile = $folder/key.pem
default_user = ksana
default_pass = $password
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 1MB
log.console.level = info
CONF
    echo "$password" >"$folder/password"
    if [ "$(id -u)" = 0 ]; then
        chown rabbitmq: "$folder/enabled_plugins" "$folder/.erlang.cookie" "$folder"/*.pem \
            "$folder/rabbitmq.conf"
    fi
}

start() {
    local folder=$1 password from
    [ -e "$PROGRAMS/rabbitmq-server" ] || die "no RabbitMQ: install the package rabbitmq-server"
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    running "$folder/pid" && die "a broker runs in $folder already"
    if [ "$(id -u)" = 0 ]; then chown rabbitmq: "$folder"; fi
    cd "$folder"
    [ -e password ] || create "$folder"
    environment "$folder"
    password=$(cat password)
    running epmd.pid || {
        "${AS_SERVER[@]}" epmd -port "$EPMD_PORT" -address 127.0.0.1 \
            </dev/null >>epmd.log 2>&1 &
        echo $! >epmd.pid
    }
    touch server.log
    from=$(($(wc -l <server.log) + 1))
    "${AS_SERVER[@]}" "$PROGRAMS/rabbitmq-server" </dev/null >>server.log 2>&1 &
    echo $! >pid
    for _ in $(seq 1200); do
        if tail -n "+$from" server.log | grep -q 'Server startup complete'; then
            echo "amqp://ksana:$password@127.0.0.1:$PORT"
            echo "amqps://ksana:$password@127.0.0.1:$TLS_PORT?ca_file=$folder/cert.pem"
            return
        fi
        running pid || break
        sleep 0.05
    done
    end pid
    end epmd.pid
    die "the broker did not start: see $folder/server.log"
}

stop() {
    local folder=$1
    [ -e "$folder/ports" ] || return 0
    end "$folder/pid"
    end "$folder/epmd.pid"
    rm -rf "${folder:?}/data" "$folder/schema" "$folder/ports" "$folder/password" \
        "$folder/pid" "$folder/epmd.pid" "$folder/.erlang.cookie"
}

ctl() {
    local folder
    folder=$(cd "$1" && pwd)
    shift
    environment "$folder"
    cd "$folder"
    "${AS_SERVER[@]}" --wait "$PROGRAMS/rabbitmqctl" "$@"
}

case ${1:-} in
kill) end "${2:?which folder}/pid" ;;
stop) stop "${2:?which folder}" ;;
ctl) ctl "${2:?which folder}" "${@:3}" ;;
'' | -*) die "usage: start_rabbitmq.sh FOLDER | start_rabbitmq.sh kill|stop|ctl FOLDER" ;;
*) start "$1" ;;
esac
