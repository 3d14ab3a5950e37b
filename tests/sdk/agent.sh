#!/usr/bin/env bash
# The agent of the conformance cases, in bash. conformance.py describes the types.
#
# usage: agent.sh work TENANT JOURNAL CONCURRENCY LEASE GRACE      CONCURRENCY is ignored
#        agent.sh task JOURNAL AGENT_ID                            the command for a task
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

note() { echo "$*" >>"$journal"; }

# Waits until the file exists. A signal ends it, and so does the end of the case.
await_file() {
    while [ ! -e "$1" ]; do
        [ -e "$journal" ] || exit 1
        sleep 0.02 &
        wait $!
    done
}

if [ "$1" = work ]; then
    exec "$here/../../sdk/shell/agent.sh" -t echo -t flaky -t broken -t nap -t slow -t hold \
        -t last -t stubborn -T "$2" -w shell -l "$5" -W 10 -g "$6" -z 0.5 -- "$0" task "$3" $$
fi
journal=$2
payload=$(cat)
case $KSANA_TYPE in
echo) jq -c --argjson attempt "$KSANA_ATTEMPT" '{echo: ., $attempt}' <<<"$payload" ;;
flaky)
    if [ "$KSANA_ATTEMPT" = 1 ]; then
        echo "the first time" >&2
        exit 1
    fi
    echo "at last" ;;
broken)
    echo never >&2
    exit 65 ;;
nap)
    if [ "$KSANA_ATTEMPT" = 1 ]; then exit 75; fi
    echo '"awake"' ;;
slow)
    sleep "$(jq .seconds <<<"$payload")"
    echo slow ;;
hold)
    trap 'note "$(cat "$KSANA_DIR/told")" "$KSANA_RUN_ID"; exit 1' TERM
    echo "40 page 4" >"$KSANA_DIR/progress"
    await_file "$(jq -r .file <<<"$payload")"
    echo held ;;
last)
    echo last
    exec kill -TERM "$3" ;;
stubborn)
    note has "$KSANA_RUN_ID"
    await_file "$(jq -r .file <<<"$payload")"
    echo late ;;
esac
