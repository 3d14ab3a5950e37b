#include "ksana/store_sqlite/rows/sequence_cache.hpp"

#include <fmt/core.h>

namespace ksana::store_sqlite {
namespace {

constexpr std::size_t kMaxSequences = 65'536;

}  // namespace

void SequenceCache::Note(const Uuid& id, std::int64_t seq) {
    if (seqs_.size() >= kMaxSequences) seqs_.Clear();
    seqs_.Put(id, seq);
}

Result<std::int64_t> SequenceCache::SeqOf(Connection& connection, const Uuid& id) {
    if (const std::int64_t* const known = seqs_.Find(id)) return *known;
    Query query = connection.Prepared(Sql::kFindRun);
    KSANA_TRY(const bool row, query.Id(id).Next());
    if (!row) return Error(Code::kInternal, fmt::format("there is no run {}", id.ToString()));
    return query.Int();
}

Result<std::int64_t> SequenceCache::Draw(Connection& connection, std::size_t count) {
    if (!last_) {
        Query query = connection.Prepared(Sql::kLastSeq);
        KSANA_TRY(const bool row, query.Next());
        last_ = row ? query.Int() : 0;
    }
    const std::int64_t first = *last_ + 1;
    *last_ += static_cast<std::int64_t>(count);
    return first;
}

}  // namespace ksana::store_sqlite
