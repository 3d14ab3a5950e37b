#include "apps/ksana/job/job_filter.hpp"

#include <array>
#include <string_view>

#include "apps/ksana/job/job_definition.hpp"
#include "ksana/base/text/escape.hpp"

namespace ksana::app {
namespace {

struct Named {
    std::string_view option;
    std::string_view name;  // of the API's parameter
};

constexpr std::array<Named, 4> kTextFilters = {
    {{"group", "group"}, {"owner", "owner"}, {"type", "type"}, {"filter", "q"}}};

}  // namespace

std::vector<OptionSpec> JobFilterOptions() {
    return {
        {"group", 'g', "NAME", "jobs of this group", ""},
        {"owner", '\0', "NAME", "jobs of this owner", ""},
        {"type", '\0', "TYPE", "jobs of this type", "", {"http", "command", "handler", "queue"}},
        {"label",
         'l',
         "NAME=VALUE",
         "jobs with this label (more than once: with all)",
         "",
         {},
         true},
        {"filter", '\0', "WORDS", "jobs with these words in id, name, owner, type or last error",
         ""},
    };
}

bool HasJobFilter(const Arguments& arguments) {
    if (arguments.Given("label")) return true;
    for (const Named& filter : kTextFilters) {
        if (arguments.Has(filter.option)) return true;
    }
    return false;
}

Result<client::Query> JobFilterQuery(const Arguments& arguments) {
    client::Query query;
    for (const Named& filter : kTextFilters) {
        const std::string& value = arguments.Get(filter.option);
        if (!value.empty()) query.emplace_back(filter.name, value);
    }
    for (const std::string& label : arguments.All("label")) {
        KSANA_TRY(const auto pair, PairOf("label", label, '='));
        query.emplace_back("label", pair.first + "=" + pair.second);
    }
    return query;
}

Result<codec::Json> JobFilterBody(const Arguments& arguments) {
    codec::Json body = codec::Json::Object();
    for (const Named& filter : kTextFilters) {
        const std::string& value = arguments.Get(filter.option);
        if (!value.empty()) body = body.With(PointerStep(filter.name), codec::Json::Of(value));
    }
    for (const std::string& label : arguments.All("label")) {
        KSANA_TRY(const auto pair, PairOf("label", label, '='));
        body = body.With("/labels" + PointerStep(pair.first), codec::Json::Of(pair.second));
    }
    return body;
}

}  // namespace ksana::app
