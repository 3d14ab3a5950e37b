#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/store_kit/driver/event_windows.hpp"
#include "ksana/store_kit/driver/rows.hpp"
#include "ksana/store_sqlite/wire/query.hpp"

// Lists: their SQL depends on what is asked for. Each names the index it walks along, chosen here,
// as there are no statistics that SQLite could choose by.

namespace ksana::store_sqlite {

// A condition or limit together with its parameters. The views must outlive it.
struct ListSql {
    struct Bytes {
        std::string_view bytes;  // of a text, bound as a blob
    };
    using Value = std::variant<std::int64_t, std::string_view, Uuid, Bytes, std::string>;

    std::string text;
    std::vector<Value> values;
    bool any_condition = false;

    // Adds "WHERE condition" or "AND condition".
    void Where(std::string_view condition);
    void Where(std::string_view condition, Value value);
    // Every word in at least one of the fields.
    void Words(const std::vector<std::string>& words, std::initializer_list<std::string_view> in);

    void BindTo(Query& query) const;
};

// What is to be selected; then come FROM, WHERE and, unless counting, ORDER BY.
enum class ListPurpose : std::uint8_t { kRows, kCount };

// Parts that together are the list, none overlapping another: each is run with the limit and the
// results are merged. One part is the rule. With `until` only what is up to there.
std::vector<ListSql> JobListSql(const store_kit::JobList& list, ListPurpose purpose,
                                std::int64_t limit,
                                const std::optional<store_kit::JobList::After>& until = {});
// What the filter asks for by an index of its own, when the list has another order: up to so many
// numbers 1. Empty: there is no such thing.
ListSql FewJobsSql(const store_kit::JobList& list, std::int64_t most);
// All of that, sorted: the way when it is little.
ListSql SortedJobsSql(const store_kit::JobList& list);
// The places (name, time, id) at which list.look rows of the index have been looked at, a statement
// for each part that has to look for more than its index knows.
std::vector<ListSql> JobHorizonSql(const store_kit::JobList& list);
// Likewise, but without limit and the conditions that no index knows: store_kit::Matches says what
// belongs to the list. Selects the numbers of rows, as SQLite may have to sort them, and whole rows
// would fill the memory. For a count their order is of no interest.
struct RunListPart {
    ListSql sql;
    bool sorts = false;  // the index has another order
    bool exact = false;  // every one of them belongs to the list
    bool few = false;    // some dozens, however many runs there are
};
// Whether the filter asks for something that few runs have, by an index that has another order.
bool AsksForNarrow(const store_kit::RunList& list);
std::vector<RunListPart> RunListSql(const store_kit::RunList& list, ListPurpose purpose);
// All runs by id, whatever the filter says: the way when there are too many to sort.
ListSql RunsByIdSql(const store_kit::RunList& list);
// With a range only what is in it, whatever list.after says: of two bounds on one side SQLite would
// seek by one and walk to the other.
ListSql EventListSql(const store_kit::EventList& list,
                     const std::optional<store_kit::SeqRange>& range = {});
ListSql LedgerListSql(const store_kit::LedgerList& list);

}  // namespace ksana::store_sqlite
