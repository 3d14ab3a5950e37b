#include "ksana/store_sqlite/claim.hpp"

#include <algorithm>
#include <optional>

#include "ksana/model/claim_order.hpp"
#include "ksana/store_sqlite/run_lanes.hpp"
#include "ksana/store_sqlite/run_rows.hpp"
#include "ksana/store_sqlite/run_tags.hpp"

namespace ksana::store_sqlite {

using model::Run;
using store::ClaimFilter;

namespace {

// Ready runs with a tag, or all of them.
struct Range {
    std::optional<Tag> tag;
    std::string_view value;
};

std::vector<Range> RangesOf(const ClaimFilter& filter) {
    if (!filter.creator.empty()) return {{Tag::kCreator, filter.creator}};
    const bool named = std::ranges::none_of(filter.categories, &std::string::empty);
    if (!filter.categories.empty() && named) {
        std::vector<Range> ranges;
        for (const std::string& value : filter.categories)
            ranges.push_back({Tag::kCategory, value});
        std::ranges::sort(ranges, {}, &Range::value);
        const auto rest = std::ranges::unique(ranges, {}, &Range::value);
        ranges.erase(rest.begin(), rest.end());
        return ranges;
    }
    if (!filter.tenant.empty() && filter.tenant != Run{}.tenant) {
        return {{Tag::kTenant, filter.tenant}};
    }
    return {{std::nullopt, {}}};
}

void BindRange(Query& query, const ClaimFilter& filter, const Range& range) {
    if (range.tag) {
        query.Enum(*range.tag).Bytes(range.value).Enum(filter.kind);
    } else {
        query.Int(ReadyLane(filter.kind));
    }
}

// Jumps from one type to the next in the index, however many runs each has.
Result<std::vector<std::string>> ReadyTypes(Session& session, const ClaimFilter& filter,
                                            const Range& range) {
    std::vector<std::string> types;
    for (;;) {
        const bool first = types.empty();
        Query query = session.connection.Prepared(
            range.tag ? (first ? Sql::kFirstTaggedType : Sql::kNextTaggedType)
                      : (first ? Sql::kFirstReadyType : Sql::kNextReadyType));
        BindRange(query, filter, range);
        if (!first) query.Text(types.back());
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
    Query query = session.connection.Prepared(range.tag ? Sql::kFindTagged : Sql::kFindReady);
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

}  // namespace ksana::store_sqlite
