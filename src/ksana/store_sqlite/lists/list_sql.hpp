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

// SQL of lists, built from their filters. Each statement names the index it walks along. The index
// is chosen here, because SQLite has no statistics to choose by.

namespace ksana::store_sqlite {

// A statement under construction, with its parameters. The views in `values` must outlive it.
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
    // Requires every word in at least one of the fields.
    void Words(const std::vector<std::string>& words, std::initializer_list<std::string_view> in);

    // Binds the values, in order.
    void BindTo(Query& query) const;
};

// What to select. FROM and WHERE follow and, unless counting, ORDER BY.
enum class ListPurpose : std::uint8_t { kRows, kCount };

// Returns disjoint parts that together are the list, usually one: run each with the limit and merge
// the results. With `until`, only the jobs up to that place.
std::vector<ListSql> JobListSql(const store_kit::JobList& list, ListPurpose purpose,
                                std::int64_t limit,
                                const std::optional<store_kit::JobList::After>& until = {});
// Returns a statement that selects 1 for each job that an index finds for the filter, at most
// `most` times, for a list in an order of another index. Empty text: no index helps.
ListSql FewJobsSql(const store_kit::JobList& list, std::int64_t most);
// Returns a statement that reads all of these jobs and sorts them, for when they are few.
ListSql SortedJobsSql(const store_kit::JobList& list);
// Returns statements for the place (name, time, id) at which list.look rows of the index have been
// read: one for each part that has to check more conditions than its index knows.
std::vector<ListSql> JobHorizonSql(const store_kit::JobList& list);
// A part of a list of runs. Unlike parts of jobs it has no limit, and leaves out the conditions
// that no index knows: store_kit::Matches decides what belongs to the list. It selects row numbers
// (seq), because SQLite may have to sort them, and whole rows would fill the memory. A count leaves
// them unordered.
struct RunListPart {
    ListSql sql;
    bool sorts = false;  // SQLite sorts, as the index has another order
    bool exact = false;  // every row belongs to the list
    bool few = false;    // at most some dozens of rows, however many runs there are
};
// Returns whether an index finds few runs for the filter, in another order than that of the list.
bool AsksForNarrow(const store_kit::RunList& list);
// Returns the parts of a list of runs.
std::vector<RunListPart> RunListSql(const store_kit::RunList& list, ListPurpose purpose);
// Returns a statement for all runs by id, whatever the filter is: used when there are too many runs
// to sort.
ListSql RunsByIdSql(const store_kit::RunList& list);
// With `range`, only the events in it, whatever list.after is: with two bounds on one side SQLite
// would seek by one and walk to the other.
ListSql EventListSql(const store_kit::EventList& list,
                     const std::optional<store_kit::SeqRange>& range = {});
ListSql LedgerListSql(const store_kit::LedgerList& list);

}  // namespace ksana::store_sqlite
