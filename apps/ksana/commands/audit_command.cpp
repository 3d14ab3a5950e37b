#include "apps/ksana/commands.hpp"

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

struct Filter {
    std::string_view option;
    std::string_view parameter;
    std::string_view value_name;
    std::string_view help;
};

constexpr std::array<Filter, 6> kAuditFilters = {{
    {"resource-type", "resource_type", "TYPE", "like job, run or calendar"},
    {"resource", "resource_id", "ID", "of this thing"},
    {"action", "action", "ACTION", "like created or paused"},
    {"user", "user", "NAME", "by this user"},
    {"from", "from", "TIME", "from then on"},
    {"until", "until", "TIME", "before then"},
}};

std::span<const Column> AuditColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 7> columns = {{
        {.title = "AT", .pointer = "/at", .kind = Kind::kTime},
        {.title = "USER", .pointer = "/user"},
        {.title = "ACTION", .pointer = "/action"},
        {.title = "TYPE", .pointer = "/resource_type"},
        {.title = "ID", .pointer = "/resource_id"},
        {.title = "ADDRESS", .pointer = "/client_ip", .wide = true},
        {.title = "DETAILS", .pointer = "/data"},
    }};
    return columns;
}

Result<int> ListAudit(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    client::Query query;
    for (const Filter& filter : kAuditFilters) {
        const std::string& value = session.arguments.Get(filter.option);
        if (!value.empty()) query.emplace_back(filter.parameter, value);
    }
    KSANA_TRY(const auto list,
              client::ListAll(session.api, client::ApiPath({"audit"}), query, most));
    ShowList(session, {.noun = "entries", .name_pointer = "/seq", .columns = AuditColumns()}, list);
    return kExitOk;
}

}  // namespace

Command AuditCommand(const Process& process) {
    std::vector<OptionSpec> options;
    for (const Filter& filter : kAuditFilters) {
        options.push_back({filter.option, '\0', filter.value_name, filter.help, ""});
    }
    for (OptionSpec& option : ListOptions()) options.push_back(std::move(option));
    return {.path = "audit list",
            .words = "",
            .summary = "Lists who did what, the newest first",
            .details = "",
            .options = std::move(options),
            .run = MakeApiCommand(process, ListAudit),
            .asks_server = true};
}

}  // namespace ksana::app
