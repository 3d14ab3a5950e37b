#include "ksana/store_sqlite/claim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "ksana/model/claim_order.hpp"
#include "ksana/store_sqlite/run_rows.hpp"

namespace ksana::store_sqlite {

using model::Run;
using store::ClaimFilter;

namespace {

// One of the indexes of ready runs, with the SQL that walks along it. All but the plain one begin
// with one more value: the tenant, the category or the creator.
struct ReadyIndex {
    std::string first_type;  // kind, [value]
    std::string next_type;   // kind, [value,] type before
    std::string walk;        // kind, [value,] type, highest rank
};

ReadyIndex MakeIndex(std::string_view name, std::string_view conditions) {
    const std::string types =
        fmt::format("SELECT type FROM runs INDEXED BY {} WHERE state=1 AND blocked=0 AND kind=?{}",
                    name, conditions);
    return {types + " ORDER BY type LIMIT 1", types + " AND type>? ORDER BY type LIMIT 1",
            fmt::format("SELECT " KSANA_RUN_COLUMNS
                        " FROM runs INDEXED BY {} WHERE state=1 AND blocked=0 AND kind=?{} AND "
                        "type=? AND rank<=? ORDER BY rank, id",
                        name, conditions)};
}

const std::array<ReadyIndex, 4>& Indexes() {
    static const std::array<ReadyIndex, 4> indexes = {
        MakeIndex("runs_ready", ""),
        MakeIndex("runs_ready_tenant", " AND tenant<>'default' AND tenant=?"),
        MakeIndex("runs_ready_category", " AND category<>'' AND category=?"),
        MakeIndex("runs_ready_creator", " AND creator<>'' AND creator=?"),
    };
    return indexes;
}

struct Range {
    const ReadyIndex& index;
    std::optional<std::string> value;
};

std::vector<Range> RangesOf(const ClaimFilter& filter) {
    const auto& [plain, tenant, category, creator] = Indexes();
    if (!filter.creator.empty()) return {{creator, filter.creator}};
    const bool named = std::ranges::none_of(filter.categories, &std::string::empty);
    if (!filter.categories.empty() && named) {
        std::vector<std::string> categories = filter.categories;
        std::ranges::sort(categories);
        const auto rest = std::ranges::unique(categories);
        categories.erase(rest.begin(), rest.end());
        std::vector<Range> ranges;
        for (const std::string& value : categories) ranges.push_back({category, value});
        return ranges;
    }
    if (!filter.tenant.empty() && filter.tenant != Run{}.tenant) return {{tenant, filter.tenant}};
    return {{plain, std::nullopt}};
}

void BindRange(Query& query, const ClaimFilter& filter, const Range& range) {
    query.Enum(filter.kind);
    if (range.value) query.Text(*range.value);
}

// Jumps from one type to the next in the index, however many runs each has.
Result<std::vector<std::string>> ReadyTypes(Session& session, const ClaimFilter& filter,
                                            const Range& range) {
    std::vector<std::string> types;
    for (;;) {
        Query query = session.connection.Dynamic(types.empty() ? range.index.first_type
                                                               : range.index.next_type);
        BindRange(query, filter, range);
        if (!types.empty()) query.Text(types.back());
        KSANA_TRY(const bool row, query.Next());
        if (!row) return types;
        types.push_back(query.Text());
    }
}

bool IsIn(const std::string& value, const std::vector<std::string>& wanted) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

bool Matches(const Run& run, const ClaimFilter& filter) {
    if (!filter.tenant.empty() && run.tenant != filter.tenant) return false;
    if (!filter.creator.empty() && run.creator != filter.creator) return false;
    if (!IsIn(run.category, filter.categories)) return false;
    return std::ranges::all_of(run.selector, [&](const auto& wanted) {
        const auto label = filter.labels.find(wanted.first);
        return label != filter.labels.end() && label->second == wanted.second;
    });
}

// The best runs so far, the worst of them on top of the heap once there are enough.
class Best {
  public:
    explicit Best(std::size_t limit) : limit_(limit) {}

    std::int64_t highest_rank() const { return Full() ? heap_.front().rank : INT64_MAX; }
    // False: this one, and all that follow it in its range, come too late.
    bool Offer(Run run) {
        Item item{model::ClaimRank(run.status.ready_at, run.priority), std::move(run)};
        if (!Full()) {
            heap_.push_back(std::move(item));
            if (Full()) std::ranges::make_heap(heap_, Earlier);
            return true;
        }
        if (!Earlier(item, heap_.front())) return false;
        std::ranges::pop_heap(heap_, Earlier);
        heap_.back() = std::move(item);
        std::ranges::push_heap(heap_, Earlier);
        return true;
    }
    bool Full() const { return heap_.size() >= limit_; }
    std::vector<Run> Take() {
        std::ranges::sort(heap_, Earlier);
        std::vector<Run> runs;
        runs.reserve(heap_.size());
        for (Item& item : heap_) runs.push_back(std::move(item.run));
        return runs;
    }

  private:
    struct Item {
        std::int64_t rank;
        Run run;
    };
    static bool Earlier(const Item& a, const Item& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.run.id < b.run.id;
    }

    std::size_t limit_;
    std::vector<Item> heap_;
};

// `only`: no other range follows, so a full result ends it.
Result<void> Walk(Session& session, const ClaimFilter& filter, const Range& range,
                  const std::string& type, bool only, Best& best) {
    Query query = session.connection.Dynamic(range.index.walk);
    BindRange(query, filter, range);
    query.Text(type).Int(best.highest_rank());
    while (!only || !best.Full()) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) break;
        KSANA_TRY(Run run, ReadRun(session, query));
        if (Matches(run, filter) && !best.Offer(std::move(run))) break;
    }
    return {};
}

}  // namespace

Result<std::vector<Run>> FindReady(Session& session, const ClaimFilter& filter, std::size_t limit) {
    if (limit == 0) return std::vector<Run>();
    struct Part {
        const Range* range;
        std::string type;
    };
    const std::vector<Range> ranges = RangesOf(filter);
    std::vector<Part> parts;
    for (const Range& range : ranges) {
        std::vector<std::string> types = filter.types;
        if (types.empty()) {
            KSANA_TRY(types, ReadyTypes(session, filter, range));
        } else {
            std::ranges::sort(types);
            const auto rest = std::ranges::unique(types);
            types.erase(rest.begin(), rest.end());
        }
        for (std::string& type : types) parts.push_back({&range, std::move(type)});
    }
    Best best(limit);
    for (const Part& part : parts) {
        KSANA_TRY_VOID(Walk(session, filter, *part.range, part.type, parts.size() == 1, best));
    }
    return best.Take();
}

std::vector<std::string> ClaimStatements() {
    std::vector<std::string> statements;
    for (const ReadyIndex& index : Indexes()) {
        statements.insert(statements.end(), {index.first_type, index.next_type, index.walk});
    }
    return statements;
}

}  // namespace ksana::store_sqlite
