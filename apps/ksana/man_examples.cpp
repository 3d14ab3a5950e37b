#include <array>

#include "ksana/man_page.hpp"

namespace ksana::app {
namespace {

constexpr std::array<ManExample, 12> kExamples = {{
    {"server", "On 127.0.0.1:7100, with everything in data/ksana.db."},
    {"server --config ksana.toml --port 7200", "With a file of settings, and another port."},
    {"cron next -n 5 --tz Europe/Paris '0 9 * * MON-FRI'", "The next five fires."},
    {"cron explain '0 0 L * *'", "What does it mean?"},
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
