#include "ksana/store_sqlite/rows/claim.hpp"

#include <algorithm>
#include <optional>

#include "ksana/model/run/claim_order.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"
#include "ksana/store_sqlite/rows/run_rows.hpp"
#include "ksana/store_sqlite/rows/run_tags.hpp"

namespace ksana::store_sqlite {

using model::Run;
using store::ClaimFilter;

namespace {

// Claims up to this limit reserve memory for all their runs.
constexpr std::size_t kUsualClaim = 1'000;

// Ready runs with a tag; without `tag` all ready runs.
struct Range {
    std::optional<Tag> tag;
    std::string_view value;
};

// Returns the ranges that have all runs of the filter: by tag if the filter names one.
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

// Returns the types with tagged runs, with one index lookup for each type, however many runs it
// has.
Result<std::vector<std::string>> TaggedTypes(ReadSession& session, const ClaimFilter& filter,
                                             const Range& range) {
    std::vector<std::string> types;
    for (;;) {
        const bool first = types.empty();
        Query query =
            session.connection.Prepared(first ? Sql::kFirstTaggedType : Sql::kNextTaggedType);
        query.Enum(*range.tag).Bytes(range.value).Enum(filter.kind);
        if (!first) query.Text(types.back());
        KSANA_TRY(const bool row, query.Next());
        if (!row) return types;
        types.push_back(query.Text());
    }
}

// Collects the first `limit` runs by rank and id. A heap with the last of them on top, once it is
// full.
class Best {
  public:
    explicit Best(std::size_t limit) : limit_(limit) {}

    // Runs with a higher rank need not be offered.
    std::int64_t highest_rank() const { return Full() ? heap_.front().rank : INT64_MAX; }
    // Returns false if this run, and so all that follow it in its range, come too late.
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

// What a claim asks for, and when.
struct Ask {
    const ClaimFilter& filter;
    TimePoint now;
};

// Runs of one type in one range. With a tag, the group is the type.
struct Part {
    const Range* range;
    Lane lane;
    std::string group;
};

// Reads the runs with rank <= highest_rank, in order, each into next(). Calls take() for each that
// matches, until it returns false.
template <class Next, class Take>
Result<void> Walk(ReadSession& session, const Ask& ask, const Part& part, std::int64_t highest_rank,
                  const Next& next, const Take& take) {
    const Range& range = *part.range;
    const PlaceRange places = UpTo(part.lane, part.group, highest_rank);
    Query query = session.connection.Prepared(range.tag ? Sql::kFindTagged : Sql::kFindInRange);
    if (range.tag) {
        query.Enum(*range.tag).Bytes(range.value).Enum(ask.filter.kind);
        query.Text(part.group).Int(highest_rank);
    } else {
        query.Range(places).Int(-1);
    }
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return {};
        Run& run = next();
        KSANA_TRY_VOID(ReadInto(session, query, run));
        if (store::Matches(ask.filter, run, ask.now) && !take()) return {};
    }
}

Result<std::vector<Run>> FirstOf(ReadSession& session, const Ask& ask, const Part& part,
                                 std::size_t limit) {
    std::vector<Run> runs;  // the last one has not matched yet
    runs.reserve(std::min(limit, kUsualClaim) + 1);
    runs.emplace_back();
    KSANA_TRY_VOID(Walk(
        session, ask, part, INT64_MAX, [&]() -> Run& { return runs.back(); },
        [&] {
            runs.emplace_back();
            return runs.size() <= limit;
        }));
    runs.pop_back();
    return runs;
}

// Returns the groups of a lane, with one index lookup for each group, however many runs it has.
Result<std::vector<std::string>> GroupsOf(ReadSession& session, Lane lane) {
    std::vector<std::string> groups;
    PlaceRange rest = InLane(lane);
    for (;;) {
        Query query = session.connection.Prepared(Sql::kFirstInRange);
        KSANA_TRY(const bool row, query.Range(rest).Next());
        if (!row) return groups;
        groups.emplace_back(ReadPlace(query.View()).group);
        rest = AfterGroup(lane, groups.back());
    }
}

// Returns each type once.
Result<std::vector<std::string>> TypesIn(ReadSession& session, const ClaimFilter& filter,
                                         const Range& range) {
    std::vector<std::string> types = filter.types;
    if (types.empty()) {
        KSANA_TRY(types, range.tag ? TaggedTypes(session, filter, range)
                                   : ReadyTypes(session, filter.kind));
    } else {
        std::ranges::sort(types);
        const auto rest = std::ranges::unique(types);
        types.erase(rest.begin(), rest.end());
    }
    for (const std::string& type : filter.without) std::erase(types, type);
    return types;
}

// Adds the runs that require labels, as far as this worker has these labels.
Result<void> AddSelective(ReadSession& session, const ClaimFilter& filter, const Range& range,
                          std::vector<Part>& parts) {
    if (filter.labels.empty()) return {};
    const Lane lane = SelectiveLane(filter.kind);
    KSANA_TRY(std::vector<std::string> groups, GroupsOf(session, lane));
    for (std::string& group : groups) {
        Selective selective = ReadSelectiveGroup(group);
        Run like;
        like.kind = filter.kind;
        like.type = std::move(selective.type);
        like.selector = std::move(selective.selector);
        const ClaimFilter wanted{.kind = filter.kind,
                                 .types = filter.types,
                                 .without = filter.without,
                                 .labels = filter.labels};
        if (store::Matches(wanted, like, {})) parts.push_back({&range, lane, std::move(group)});
    }
    return {};
}

}  // namespace

Result<std::vector<std::string>> ReadyTypes(ReadSession& session, model::ActionKind kind) {
    return GroupsOf(session, ReadyLane(kind));
}

Result<std::vector<Run>> FindReady(ReadSession& session, const ClaimFilter& filter, TimePoint now,
                                   std::size_t limit) {
    if (limit == 0) return std::vector<Run>();
    const Ask ask{filter, now};
    const std::vector<Range> ranges = RangesOf(filter);
    std::vector<Part> parts;
    for (const Range& range : ranges) {
        KSANA_TRY(std::vector<std::string> types, TypesIn(session, filter, range));
        // Runs with a selector are in lanes of their own, but a tag finds both.
        if (filter.only_selective && !range.tag) types.clear();
        for (std::string& type : types) {
            parts.push_back({&range, ReadyLane(filter.kind), std::move(type)});
        }
        if (!range.tag) KSANA_TRY_VOID(AddSelective(session, filter, range, parts));
    }
    if (parts.size() == 1) return FirstOf(session, ask, parts[0], limit);
    Best best(limit);
    for (const Part& part : parts) {
        Run run;
        KSANA_TRY_VOID(Walk(
            session, ask, part, best.highest_rank(), [&]() -> Run& { return run; },
            [&] { return best.Offer(std::move(run)); }));
    }
    return best.Take();
}

}  // namespace ksana::store_sqlite
