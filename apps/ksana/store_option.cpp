#include "ksana/store_option.hpp"

#include <fmt/core.h>

#include <array>

namespace ksana::app {

OptionSpec StoreOption() {
    return {"store", '\0', "URL", "which store (default: KSANA_STORE, else sqlite)", ""};
}

Result<server::StoreUrl> StoreUrlOf(const Arguments& arguments, const Process& process) {
    std::string_view from = "--store";
    std::string text = arguments.Get("store");
    if (text.empty()) {
        from = "KSANA_STORE";
        const auto variable = process.environment.find("KSANA_STORE");
        if (variable != process.environment.end()) text = variable->second;
    }
    if (text.empty()) text = server::kDefaultStore;
    auto url = server::ParseStoreUrl(text);
    if (!url) return std::move(url).error().WithContext(from);
    return url;
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
