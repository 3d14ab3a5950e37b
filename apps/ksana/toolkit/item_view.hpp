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

// A column of a list. `pointer` names the member that is shown, unless `make` makes the text.
struct Column {
    enum class Kind : std::uint8_t { kText, kTime, kState };

    std::string_view title;
    std::string_view pointer;
    Kind kind = Kind::kText;
    bool wide = false;  // only in -o wide
    std::function<std::string(const codec::Json& item, const Style& style)> make = {};
};

// How things of one kind are shown.
struct ItemView {
    std::string_view noun;                  // "jobs": for "there are no jobs"
    std::string_view name_pointer = "/id";  // what -o name prints
    std::span<const Column> columns;
};

// A list in the format that was asked for; JSON in the API's own shape. Says on standard error
// where there are none or more.
void ShowList(ApiSession& session, const ItemView& view, const client::ApiList& list);
// The same for a list that has no pages. `whole` is what the API answered.
void ShowItems(ApiSession& session, const ItemView& view, const std::vector<codec::Json>& items,
               const codec::Json& whole);

// The columns of these things, as a table.
Table TableOf(std::span<const Column> columns, const std::vector<codec::Json>& items,
              const Style& style);

// One thing: its members one a line ("schedule.cron   0 3 * * *"), those that are empty left out;
// or as JSON.
void ShowOne(ApiSession& session, const codec::Json& item, std::string_view name_pointer = "/id");

// What a change made of a thing: a program wants the thing itself, a person that it was done.
void ShowChange(ApiSession& session, const codec::Json& thing, std::string_view sentence);

// One member, for people: times as the style says, lists and objects in short.
std::string MemberText(const codec::Json& value, std::string_view pointer, const Style& style);

}  // namespace ksana::app
