#include "ksana/store_postgres/policy_book.hpp"

#include <fmt/core.h>

#include "ksana/codec/record_codec.hpp"
#include "ksana/store_postgres/session.hpp"

namespace ksana::store_postgres {
namespace {

// A run with a policy and nothing else: the form in which records keep one.
std::string PolicyText(const model::RunPolicy& policy) {
    return codec::RecordToLine(model::Run{.policy = policy});
}

Result<model::RunPolicy> PolicyOf(std::string_view text) {
    KSANA_TRY(const auto record, codec::RecordFromLine(text));
    const auto* run = std::get_if<model::Run>(&record);
    if (run == nullptr) return Error(Code::kDataLoss, "a stored policy is not one");
    return run->policy;
}

constexpr std::string_view kInsert =
    "INSERT INTO ksana.policies (body) VALUES ($1::text) ON CONFLICT DO NOTHING";
constexpr std::string_view kFindText = "SELECT id FROM ksana.policies WHERE body = $1::text";
constexpr std::string_view kFindIds =
    "SELECT id, body FROM ksana.policies WHERE id = ANY($1::integer[])";

// Beyond this many different ones the memory of them starts anew.
constexpr std::size_t kMaxRemembered = 10'000;

}  // namespace

std::size_t PolicyBook::Hash::operator()(const model::RunPolicy& policy) const {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::int64_t value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29U;
    };
    mix(policy.timeout.count());
    mix(policy.stop_grace.count());
    mix(policy.retry.interval.count());
    mix(policy.retry.max_retries);
    mix(static_cast<int>(policy.retry.strategy));
    mix(static_cast<int>(policy.overlap));
    mix((policy.need_manual ? 1 : 0) + (policy.success_callback ? 2 : 0) +
        (policy.error_callback ? 4 : 0));
    return hash;
}

Result<std::int32_t> PolicyBook::IdOf(const model::RunPolicy& policy, const Deadline& deadline) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto found = ids_.find(policy); found != ids_.end()) return found->second;
    }
    return Store(policy, deadline);
}

Result<std::int32_t> PolicyBook::Store(const model::RunPolicy& policy, const Deadline& deadline) {
    auto made = pool_.Connect(deadline);
    if (auto* fault = std::get_if<Fault>(&made)) return std::move(fault->error);
    Session session(*std::get<0>(made), Session::Mode::kWrite, deadline);
    const std::string text = PolicyText(policy);
    session.Defer(kInsert, Params().Add(text));
    KSANA_TRY(const Rows rows, session.Query(kFindText, Params().Add(text)));
    const std::int32_t id = RowReader(rows, 0).Int32();
    KSANA_TRY_VOID(session.Commit());
    Remember(id, policy);
    return id;
}

Result<std::vector<model::RunPolicy>> PolicyBook::Find(const std::vector<std::int32_t>& ids,
                                                       const Deadline& deadline) {
    for (int round = 0;; ++round) {
        std::vector<model::RunPolicy> found;
        std::vector<std::int32_t> missing;
        {
            const std::shared_lock lock(mutex_);
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
        KSANA_TRY_VOID(Load(missing, deadline));
    }
}

Result<void> PolicyBook::Load(const std::vector<std::int32_t>& ids, const Deadline& deadline) {
    auto made = pool_.Connect(deadline);
    if (auto* fault = std::get_if<Fault>(&made)) return std::move(fault->error);
    Session session(*std::get<0>(made), Session::Mode::kRead, deadline);
    KSANA_TRY(const Rows rows, session.Query(kFindIds, Params().Array(ids)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const std::int32_t id = row.Int32();
        KSANA_TRY(const model::RunPolicy policy, PolicyOf(row.Text()));
        Remember(id, policy);
    }
    return {};
}

void PolicyBook::Remember(std::int32_t id, const model::RunPolicy& policy) {
    const std::unique_lock lock(mutex_);
    if (policies_.size() >= kMaxRemembered) {
        policies_.clear();
        ids_.clear();
    }
    policies_.insert_or_assign(id, policy);
    ids_.insert_or_assign(policy, id);
}

}  // namespace ksana::store_postgres
