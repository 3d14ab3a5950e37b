#include <array>

#include "apps/ksana/shell/man_page.hpp"

namespace ksana::app {
namespace {

constexpr std::array<ManExample, 23> kExamples = {{
    {"server", "On 127.0.0.1:7100, with everything in data/ksana.db."},
    {"server --config ksana.toml --port 7200", "With a file of settings, and another port."},
    {"worker run --server http://127.0.0.1:7100 --slots 8 --allow-commands",
     "A worker that runs commands on this machine."},
    {"cron next -n 5 --tz Europe/Paris '0 9 * * MON-FRI'", "The next five fires."},
    {"cron explain '0 0 L * *'", "What does it mean?"},
    {"apply -f jobs.toml --dry-run", "What would change?"},
    {"apply -f jobs --prune --yes", "Make it so, and delete what the folder names no more."},
    {"simulate --from 2027-03-01T00:00:00Z --to 2027-04-01T00:00:00Z",
     "What will the jobs do in March?"},
    {"calendar import holidays -f holidays.ics", "Days off from another program."},
    {"calendar preview holidays --days 365", "What does that do to the jobs?"},
    {"group set billing --max-concurrency 5 --rate 100/1m", "No more than this at once."},
    {"limit list", "What is in use, what waits, which hosts are down?"},
    {"job backfill nightly --from 2026-09-01T00:00:00Z --to 2026-09-08T00:00:00Z",
     "Run what was missed, after a look at it."},
    {"backfill list", "How far is it?"},
    {"audit list --resource nightly", "Who changed it?"},
    {"migrate --status", "Is anything to be done before the new program can start?"},
    {"export -o all.jsonl", "Everything in one file."},
    {"import --dry-run all.jsonl", "Is the file whole?"},
    {"config show --origin", "Which settings hold, and who set them?"},
    {"config check ksana.toml", "Is this file right?"},
    {"doctor", "Is everything here as a server needs it?"},
    {"completion bash", "The script; put it into /etc/bash_completion.d/ksana."},
    {"man --all man1", "Every page as a file."},
}};

}  // namespace

std::span<const ManExample> ManExamples() { return kExamples; }

}  // namespace ksana::app
