#include "ksana/store_sqlite/policy_cache.hpp"

#include <fmt/core.h>

#include "ksana/base/hash.hpp"
#include "ksana/store_sqlite/policy_text.hpp"

namespace ksana::store_sqlite {
namespace {

// There are few policies; whoever makes a new one for every run gets no cache, but no leak either.
constexpr std::size_t kMaxCached = 4'096;

}  // namespace

Result<void> PolicyCache::Fill(Connection& connection) {
    Query query = connection.Prepared(Sql::kListPolicies);
    query.Int(static_cast<std::int64_t>(kMaxCached));
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return {};
        const std::int64_t id = query.Int();
        KSANA_TRY(const model::RunPolicy policy, PolicyFromText(query.View()));
        Add(id, policy);
    }
}

Result<model::RunPolicy> PolicyCache::Load(Connection& connection, std::int64_t id) {
    {
        const std::shared_lock lock(mutex_);
        const auto found = by_id_.find(id);
        if (found != by_id_.end()) return found->second;
    }
    Query query = connection.Prepared(Sql::kLoadPolicy);
    KSANA_TRY(const bool row, query.Int(id).Next());
    if (!row) return Error(Code::kDataLoss, fmt::format("sqlite: policy {} is missing", id));
    // Not kept: the row may be one that this very transaction made.
    return PolicyFromText(query.View());
}

void PolicyCache::Add(std::int64_t id, const model::RunPolicy& policy) {
    const std::unique_lock lock(mutex_);
    if (by_id_.size() >= kMaxCached) by_id_.clear();
    by_id_.emplace(id, policy);
}

std::size_t PolicyWriter::Hash::operator()(const model::RunPolicy& policy) const {
    std::uint64_t hash = MixBits(static_cast<std::uint64_t>(policy.timeout.count()));
    hash = MixBits(hash ^ static_cast<std::uint64_t>(policy.retry.interval.count()));
    hash = MixBits(hash ^ static_cast<std::uint64_t>(policy.retry.max_retries));
    hash = MixBits(hash ^ static_cast<std::uint64_t>(policy.stop_grace.count()));
    return MixBits(hash ^ static_cast<std::uint64_t>(policy.overlap));
}

Result<std::int64_t> PolicyWriter::IdOf(Connection& connection, const model::RunPolicy& policy) {
    const auto found = ids_.find(policy);
    if (found != ids_.end()) return found->second;
    const std::string text = PolicyToText(policy);
    Query find = connection.Prepared(Sql::kFindPolicy);
    KSANA_TRY(const bool known, find.Text(text).Next());
    std::int64_t id = 0;
    if (known) {
        id = find.Int();
    } else {
        KSANA_TRY_VOID(connection.Prepared(Sql::kInsertPolicy).Text(text).Run());
        id = sqlite3_last_insert_rowid(connection.handle());
    }
    if (ids_.size() >= kMaxCached) ids_.clear();
    ids_.emplace(policy, id);
    fresh_.emplace_back(id, policy);
    return id;
}

void PolicyWriter::Committed(PolicyCache& cache) {
    for (const auto& [id, policy] : fresh_) cache.Add(id, policy);
    fresh_.clear();
}

void PolicyWriter::RolledBack() {
    for (const auto& [id, policy] : fresh_) ids_.erase(policy);
    fresh_.clear();
}

}  // namespace ksana::store_sqlite
