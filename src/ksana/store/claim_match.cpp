#include "ksana/store/claim_match.hpp"

#include <algorithm>

namespace ksana::store {
namespace {

bool Is(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

bool OneOf(const std::vector<std::string>& wanted, const std::string& value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

// What a run demands of who takes it.
bool Meets(const TextMap& labels, const TextMap& selector) {
    return std::ranges::all_of(selector, [&](const auto& demand) {
        const auto found = labels.find(demand.first);
        return found != labels.end() && found->second == demand.second;
    });
}

}  // namespace

bool Matches(const ClaimFilter& filter, const model::Run& run) {
    return run.kind == filter.kind && OneOf(filter.types, run.type) &&
           (filter.without.empty() || !OneOf(filter.without, run.type)) &&
           OneOf(filter.categories, run.category) && Is(filter.tenant, run.tenant) &&
           Is(filter.creator, run.creator) && Meets(filter.labels, run.selector);
}

}  // namespace ksana::store
