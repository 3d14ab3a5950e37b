#!/usr/bin/env bash
# An agent for tasks of type mail: example.sh. The same file is the command for each task.
set -euo pipefail
if [ -z "${KSANA_RUN_ID:-}" ]; then
    exec "$(dirname "${BASH_SOURCE[0]}")/agent.sh" -t mail -- "${BASH_SOURCE[0]}"
fi
to=$(jq -r '.to? // ""')
if [ -z "$to" ]; then
    echo "there is no address" >&2
    exit 65     # a retry would not help
fi
echo "50 half of it" >"$KSANA_DIR/progress"
jq -cn --arg to "$to" '{sent_to: $to}'
