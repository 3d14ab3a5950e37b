#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/client/api_list.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// One column of a list. Shows the member at `pointer`, or the text that `make` returns.
struct Column {
    enum class Kind : std::uint8_t { kText, kTime, kState };

    std::string_view title;
    std::string_view pointer;
    Kind kind = Kind::kText;
    bool wide = false;  // shown with -o wide only
    std::function<std::string(const codec::Json& item, const Style& style)> make = {};
};

// How items of one kind are shown.
struct ItemView {
    std::string_view noun;                  // "jobs", as in "there are no jobs"
    std::string_view name_pointer = "/id";  // the member that -o name prints
    std::span<const Column> columns;
};

// Prints a list in the chosen format; JSON keeps the shape of the API. Notes on standard error that
// the list is empty or that there are more items.
void ShowList(ApiSession& session, const ItemView& view, const client::ApiList& list);
// Prints a list that has no pages. `whole` is the API's answer.
void ShowItems(ApiSession& session, const ItemView& view, const std::vector<codec::Json>& items,
               const codec::Json& whole);

// Returns the items as a table with these columns.
Table TableOf(std::span<const Column> columns, const std::vector<codec::Json>& items,
              const Style& style);

// Prints one item as JSON, or one member a line ("schedule.cron   0 3 * * *") without empty
// members.
void ShowOne(ApiSession& session, const codec::Json& item, std::string_view name_pointer = "/id");

// Prints the result of a change: the item itself in the formats for programs, `sentence` in tables.
void ShowChange(ApiSession& session, const codec::Json& thing, std::string_view sentence);

// Formats one member for people: times in the style's format, lists and objects abbreviated.
std::string MemberText(const codec::Json& value, std::string_view pointer, const Style& style);

}  // namespace ksana::app
