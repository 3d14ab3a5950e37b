#include "apps/ksana/store/store_option.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/server/config_file.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::app {

OptionSpec StoreOption() {
    return {"store", '\0', "URL", "which store (default: as the server's settings say)", ""};
}

Result<server::StoreUrl> StoreUrlOf(const Arguments& arguments, const Process& process) {
    const std::string& text = arguments.Get("store");
    auto url = server::ParseStoreUrl(text.empty() ? server::kDefaultStore : text);
    if (!url) return std::move(url).error().WithContext("--store");
    // A whole URL needs no settings; a bare word needs the data folder of the settings.
    if (text.find(':') != std::string::npos) return url;
    return server::LoadStoreUrl({.flags = {{"store", text}},
                                 .config_file = "",
                                 .environment = process.environment,
                                 .read_file = ReadConfigFile});
}

server::StoreEnvironment EnvironmentOf(const Process& process) {
    return {process.clock, process.random, process.ids};
}

std::string CountsText(const codec::ExportCounts& counts) {
    struct Part {
        std::int64_t count;
        std::string_view one;
        std::string_view many;
    };
    const std::array<Part, 6> parts = {{
        {counts.jobs, "job", "jobs"},
        {counts.runs, "run", "runs"},
        {counts.attempts, "attempt", "attempts"},
        {counts.ledger, "ledger entry", "ledger entries"},
        {counts.events, "event", "events"},
        {counts.documents, "document", "documents"},
    }};
    std::string text;
    for (const Part& part : parts) {
        if (part.count == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", part.count, part.count == 1 ? part.one : part.many);
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace ksana::app
