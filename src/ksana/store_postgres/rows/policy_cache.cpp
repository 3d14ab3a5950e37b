#include "ksana/store_postgres/rows/policy_cache.hpp"

#include <map>
#include <string>

namespace ksana::store_postgres {
namespace {

// Rows are inserted in the order of the texts, so that two transactions that store the same
// policies do not deadlock.
constexpr std::string_view kInsert =
    "INSERT INTO ksana.policies (body) SELECT body FROM unnest($1::text[]) AS v(body) "
    "ON CONFLICT DO NOTHING";
constexpr std::string_view kFindTexts =
    "SELECT id, body FROM ksana.policies WHERE body = ANY($1::text[])";
constexpr std::string_view kFindIds =
    "SELECT id, body FROM ksana.policies WHERE id = ANY($1::integer[])";

// Above this number of policies the cache is cleared.
constexpr std::size_t kMaxRemembered = 10'000;

}  // namespace

std::optional<std::int32_t> PolicyCache::IdOf(const model::RunPolicy& policy) const {
    const ReaderLock lock(mutex_);
    const auto found = ids_.find(policy);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
}

Result<void> PolicyCache::Store(const Policies& policies, Session& session) {
    std::map<std::string, const model::RunPolicy*> by_text;
    for (const model::RunPolicy& policy : policies)
        by_text.emplace(store_kit::PolicyToText(policy), &policy);
    const auto text = [](const auto& item) -> const std::string& { return item.first; };
    session.Defer(kInsert, Params().Array(by_text, text));
    KSANA_TRY(const Rows rows, session.Query(kFindTexts, Params().Array(by_text, text)));
    ById stored;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const std::int32_t id = row.Int32();
        stored.emplace(id, *by_text.at(row.Text()));
    }
    KSANA_TRY_VOID(session.Commit());
    Remember(stored);
    return {};
}

Result<std::vector<model::RunPolicy>> PolicyCache::Find(const std::vector<std::int32_t>& ids,
                                                        Session& session) {
    for (int round = 0;; ++round) {
        std::vector<model::RunPolicy> found;
        std::vector<std::int32_t> missing;
        {
            const ReaderLock lock(mutex_);
            found.reserve(ids.size());
            for (const std::int32_t id : ids) {
                const auto known = policies_.find(id);
                if (known == policies_.end()) {
                    missing.push_back(id);
                } else {
                    found.push_back(known->second);
                }
            }
        }
        if (missing.empty()) return found;
        if (round == 2) return Error(Code::kDataLoss, "a run names a policy that is not there");
        KSANA_TRY_VOID(Load(missing, session));
    }
}

Result<void> PolicyCache::Load(const std::vector<std::int32_t>& ids, Session& session) {
    KSANA_TRY(const Rows rows, session.Query(kFindIds, Params().Array(ids)));
    ById read;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const std::int32_t id = row.Int32();
        KSANA_TRY(read[id], store_kit::PolicyFromText(row.Text()));
    }
    Remember(read);
    return {};
}

void PolicyCache::Remember(const ById& policies) {
    const WriterLock lock(mutex_);
    if (policies_.size() + policies.size() > kMaxRemembered) {
        policies_.clear();
        ids_.clear();
    }
    for (const auto& [id, policy] : policies) {
        policies_.insert_or_assign(id, policy);
        ids_.insert_or_assign(policy, id);
    }
}

}  // namespace ksana::store_postgres
