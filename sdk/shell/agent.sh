#!/usr/bin/env bash
# An agent that runs a command for each task, one task at a time. Needs bash 5.1, curl and jq.
set -uo pipefail

usage() {
    cat <<'TXT'
Usage: agent.sh -t TYPE [-t TYPE…] [OPTIONS] -- COMMAND [ARGUMENTS]

  -t TYPE     tasks of this type; more than once: any of them
  -T TENANT   only tasks of this tenant
  -w NAME     who this is (host and process id)
  -l SECONDS  lease: an agent that is silent for so long has lost its task (30)
  -W SECONDS  of one long poll, at most 60 (20)
  -g SECONDS  that a command may take after SIGTERM or SIGINT; then it is ended and its task is
              released, at once after a second signal (20)
  -z SECONDS  until a task is tried again that was put off (60)

The command is given the payload (JSON) on standard input, and KSANA_RUN_ID, KSANA_TYPE,
KSANA_ATTEMPT, KSANA_FENCE and KSANA_DIR, a folder of its own. How it ends is told to the server:

  exit 0      done; the result is its standard output, JSON or text
  exit 65     failed, and never to be tried again
  exit 75     not now: put off, no retry is used up
  else        failed; the policy says whether it is tried again. The error is its standard error

While it runs it may write "PERCENT NOTE" into $KSANA_DIR/progress. It gets SIGTERM when it has to
end; $KSANA_DIR/told says why: cancelled, lost (the task belongs to somebody else) or stopping.

The server: KSANA_SERVER (http://127.0.0.1:7100). The token: a file, KSANA_TOKEN_FILE, or
KSANA_TOKEN.
TXT
}

types=() tenant='' worker="$(hostname)-$$" lease=30 poll=20 grace=20 nap=60
while getopts 't:T:w:l:W:g:z:h' option; do
    case $option in
    t) types+=("$OPTARG") ;;
    T) tenant=$OPTARG ;;
    w) worker=$OPTARG ;;
    l) lease=$OPTARG ;;
    W) poll=$OPTARG ;;
    g) grace=$OPTARG ;;
    z) nap=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ ${#types[@]} = 0 ] || [ $# = 0 ]; then usage >&2; exit 2; fi

api=${KSANA_SERVER:-http://127.0.0.1:7100}
api=${api%/}/api/v1/agent
umask 077
box=$(mktemp -d "${TMPDIR:-/tmp}/ksana_agent.XXXXXX") || exit 1
child='' signals=0
trap 'signals=$((signals + 1))' TERM INT
trap 'end_child KILL; rm -rf "$box"' EXIT

log() { printf 'ksana: %s\n' "$*" >&2; }

# Called often, so these two start no process. look sets $now in milliseconds; seconds formats
# milliseconds as seconds in $text.
look() { now=$((${EPOCHREALTIME/[.,]/} / 1000)); }
seconds() { printf -v text '%d.%03d' $(($1 > 0 ? $1 / 1000 : 0)) $(($1 > 0 ? $1 % 1000 : 0)); }
ms() { awk -v seconds="$1" 'BEGIN { printf "%d", seconds * 1000 }'; }

# post PATH MILLISECONDS BODY_FILE: puts the answer into $box/answer and sets $status; 000 without
# an answer. A signal ends the call. The token is passed in a file, as every user sees arguments.
post() {
    local token=${KSANA_TOKEN:-} call
    if [ -n "${KSANA_TOKEN_FILE:-}" ]; then token=$(<"$KSANA_TOKEN_FILE"); fi
    printf 'Content-Type: application/json\n' >"$box/headers"
    if [ -n "$token" ]; then printf 'Authorization: Bearer %s\n' "$token" >>"$box/headers"; fi
    : >"$box/answer" >"$box/received"
    seconds "$2"
    curl -sS --max-time "$text" -H @"$box/headers" --data-binary @"$3" -o "$box/answer" \
        -D "$box/received" -w '%{http_code}' "$api/$1" >"$box/status" 2>"$box/curl_error" &
    call=$!
    wait "$call" || { kill "$call" 2>/dev/null && wait "$call"; }
    status=$(<"$box/status")
    status=${status:-000}
}

reason() {
    if [ "$status" = 000 ]; then cat "$box/curl_error"
    else echo "$status $(jq -r '.detail // .title // ""' "$box/answer" 2>/dev/null)"; fi
}

# Sleeps for a random time that grows to 15 seconds, at least for Retry-After.
step=0
pause() {
    local most=$((100 << step)) least length
    step=$((step < 8 ? step + 1 : 8))
    most=$((most > 15000 ? 15000 : most))
    least=$(tr -d '\r' <"$box/received" | sed -n 's/^[Rr]etry-[Aa]fter: \([0-9]\{1,4\}\)$/\1000/p')
    length=$((most / 2 + RANDOM % (most / 2 + 1)))
    seconds $((length > ${least:-0} ? length : least))
    sleep "$text" &
    wait $!
}

may_pass() { case $status in 000 | 401 | 403 | 408 | 425 | 429 | 5??) ;; *) return 1 ;; esac; }

# tell VERB <BODY: sends the report until it is answered. The server accepts the same report twice.
tell() {
    step=0
    cat >"$box/report"
    while true; do
        post "runs/$run_id/$1" 30000 "$box/report"
        case $status in 2??) return ;; esac
        if ! may_pass; then break; fi
        if [ "$signals" -gt 1 ]; then log "$1 of $run_id was not told: $(reason)"; return; fi
        pause
    done
    log "$1 of $run_id is not accepted: $(reason)"
    case $1-$status in
    succeed-400 | succeed-413)
        tell fail < <(fail_body ResultRefused "$(reason)" default </dev/null) ;;
    esac
}

# fail_body TYPE MESSAGE RETRY <STACK
fail_body() {
    jq -cR -s --arg exec_id "$exec_id" --arg type "$1" --arg message "$2" --arg retry "$3" \
        '{$exec_id, error: {$type, $message, stack: .}, $retry}'
}

end_child() {
    if [ -n "$child" ]; then kill -s "$1" -- "-$child" 2>/dev/null; fi
}

# stop_child WHY: sends SIGTERM to the command, and SIGKILL after 5 seconds.
stop_child() {
    local timer
    echo "$1" >"$KSANA_DIR/told"
    end_child TERM
    sleep 5 &
    timer=$!
    while kill -0 "$child" 2>/dev/null && kill -0 "$timer" 2>/dev/null; do
        wait -n "$child" "$timer" 2>/dev/null
    done
    kill "$timer" 2>/dev/null
    end_child KILL
    wait "$child" 2>/dev/null
    child=''
}

beat() {
    local percent='' note=''
    if [ -s "$KSANA_DIR/progress" ]; then read -r percent note <"$KSANA_DIR/progress"; fi
    if [[ $percent =~ ^([0-9]{1,2}|100)$ ]]; then
        jq -cn --arg exec_id "$exec_id" --arg lease "${lease}s" --argjson progress "$percent" \
            --arg note "${note:0:250}" '{$exec_id, $lease, $progress, $note}'
    else
        printf '{"exec_id":"%s","lease":"%ss"}' "$exec_id" "$lease"
    fi >"$box/beat"
    post "runs/$run_id/heartbeat" $((third > 1000 ? third : 1000)) "$box/beat"
}

# Sends heartbeats until the command ends. Returns early if it has to end: then $told says why.
attend() {
    local beat_at expires stop_at='' sent timer next
    told=''
    look
    beat_at=$((now + third))
    expires=$((now + 3 * third))
    while kill -0 "$child" 2>/dev/null; do
        look
        if [ "$signals" -gt 0 ] && [ -z "$stop_at" ]; then stop_at=$((now + $(ms "$grace"))); fi
        if [ "$signals" -gt 1 ] || { [ -n "$stop_at" ] && [ "$now" -ge "$stop_at" ]; }; then
            told=stopping
            return
        fi
        next=$beat_at
        if [ -n "$stop_at" ] && [ "$stop_at" -lt "$next" ]; then next=$stop_at; fi
        seconds $((next - now))
        sleep "$text" &
        timer=$!
        wait -n "$child" "$timer" 2>/dev/null
        kill "$timer" 2>/dev/null && wait "$timer" 2>/dev/null
        look
        if [ "$now" -lt "$beat_at" ]; then continue; fi
        sent=$now
        beat
        beat_at=$((sent + third))
        case $status in
        200)
            expires=$((sent + 3 * third))
            if [[ $(<"$box/answer") == *'"cancel"'* ]]; then
                told=cancelled
                return
            fi ;;
        404 | 409) told=lost; return ;;
        *) log "no heartbeat of $run_id: $(reason)" ;;
        esac
        look
        if [ "$now" -gt "$expires" ]; then told=lost; return; fi
    done
}

# work COMMAND…: runs the command for the task in $box/task and reports its end.
work() {
    local type attempt fence line code
    { read -r run_id; read -r exec_id; read -r type; read -r attempt; read -r fence
        cat >"$box/payload"; } < <(
        jq -c '.runs[0] | (.run_id, .exec_id, .type, .attempt, .fence | tostring),
            (.payload | tojson)' \
            --raw-output "$box/task")
    export KSANA_DIR=$box/work
    rm -rf "$KSANA_DIR"
    mkdir "$KSANA_DIR"
    rm -f "$box/code"
    # Runs in its own session, so that all its processes can be killed. The exit code comes in a
    # file, as bash loses the code of a process that ends just when a signal arrives.
    KSANA_RUN_ID=$run_id KSANA_TYPE=$type KSANA_ATTEMPT=$attempt KSANA_FENCE=$fence \
        setsid bash -c 'trap : TERM; "$@"; echo $? >"$0"' "$box/code" "$@" \
        <"$box/payload" >"$box/output" 2>"$box/errors" &
    child=$!
    attend
    if [ -n "$told" ]; then stop_child "$told"; else end_child KILL; child=''; fi
    if [ -s "$box/code" ]; then code=$(<"$box/code"); else code=137; fi
    line=$(tail -n 1 "$box/errors" | head -c 1000)
    case $told-$code in
    lost-*) log "$run_id belongs to somebody else by now" ;;
    stopping-*) tell release < <(jq -cn --arg exec_id "$exec_id" '{$exec_id}') ;;
    cancelled-*) tell fail < <(fail_body Cancelled 'ended as it was cancelled' no </dev/null) ;;
    -0)
        # The result is one JSON value, else a text.
        jq -cs 'if length < 2 then .[0] else error end' "$box/output" >"$box/result" 2>/dev/null ||
            jq -Rs 'rtrimstr("\n")' "$box/output" >"$box/result"
        tell succeed < <(jq -cn --arg exec_id "$exec_id" --slurpfile result "$box/result" \
            '{$exec_id, result: $result[0]}') ;;
    -75)
        tell snooze < <(jq -cn --arg exec_id "$exec_id" --arg after "${nap}s" \
            '{$exec_id, $after}') ;;
    -65) tell fail < <(tail -c 16000 "$box/errors" | fail_body 'exit 65' "${line:-failed}" no) ;;
    *) tell fail < <(tail -c 16000 "$box/errors" |
        fail_body "exit $code" "${line:-failed}" default) ;;
    esac
}

third=$(($(ms "$lease") / 3))
claim=$(jq -cn --arg worker "$worker" --arg lease "${lease}s" --arg wait "${poll}s" \
    --arg tenant "$tenant" '{$worker, $lease, $wait, types: $ARGS.positional} +
    if $tenant == "" then {} else {$tenant} end' --args "${types[@]}") || exit 1
printf '%s' "$claim" >"$box/claim"
known=no
while [ "$signals" = 0 ]; do
    look
    began=$now
    post claim $((poll * 1000 + 5000)) "$box/claim"
    look
    case $status in
    200)
        known=yes
        step=0
        cp "$box/answer" "$box/task"
        work "$@" ;;
    204)
        known=yes
        # An empty answer long before the end of the poll: the server is about to stop.
        if [ $((now - began)) -lt $((poll * 500)) ]; then pause; else step=0; fi ;;
    *)
        if [ "$signals" -gt 0 ]; then break; fi
        log "no claim: $(reason)"
        case $known-$status in no-408 | no-425) ;; no-4?[0-8]) exit 1 ;; esac
        pause ;;
    esac
done
