#include "ksana/store_sqlite/rows/policy_cache.hpp"

#include <charconv>

#include <fmt/core.h>

#include "ksana/store_kit/driver/stored_policy.hpp"

namespace ksana::store_sqlite {
namespace {

// Reads numbers that are separated by one blank. An error makes ok() false.
class Numbers {
  public:
    explicit Numbers(std::string_view text) : text_(text) {}

    template <class T>
    T Take() {
        T value{};
        const auto [end, fault] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        ok_ = ok_ && fault == std::errc();
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        if (!text_.empty()) text_.remove_prefix(1);
        return value;
    }
    Duration TakeDuration() { return Duration(Take<std::int64_t>()); }
    template <class E>
    E TakeEnum() {
        const auto value = Take<unsigned>();
        ok_ = ok_ && value < model::kEnumCount<E>;
        return static_cast<E>(value);
    }
    bool TakeBool() { return Take<int>() != 0; }
    bool more() const { return ok_ && !text_.empty(); }
    bool ok() const { return ok_; }

  private:
    std::string_view text_;
    bool ok_ = true;
};

// The text before JSON: the members as numbers, the sequence last. It is only read, and only
// databases of that time have it, so members that came later have their defaults.
Result<model::RunPolicy> PolicyFromNumbers(std::string_view text) {
    Numbers numbers(text);
    model::RunPolicy policy;
    policy.retry.strategy = numbers.TakeEnum<model::RetryStrategy>();
    policy.retry.max_retries = numbers.Take<int>();
    policy.retry.interval = numbers.TakeDuration();
    policy.retry.max_interval = numbers.TakeDuration();
    policy.retry.jitter = numbers.Take<double>();
    policy.timeout = numbers.TakeDuration();
    policy.stop_grace = numbers.TakeDuration();
    policy.overlap = numbers.TakeEnum<model::OverlapPolicy>();
    policy.ignores_overlap = numbers.TakeBool();
    policy.run_log = numbers.TakeEnum<model::RunLog>();
    policy.need_manual = numbers.TakeBool();
    policy.success_callback = numbers.TakeBool();
    policy.error_callback = numbers.TakeBool();
    while (numbers.more()) policy.retry.sequence.push_back(numbers.TakeDuration());
    if (!numbers.ok()) return Error(Code::kDataLoss, "sqlite: a stored policy cannot be read");
    return policy;
}

// The only text that databases of the first versions hold begins with a digit.
Result<model::RunPolicy> PolicyOf(std::string_view text) {
    return text.starts_with('{') ? store_kit::PolicyFromText(text) : PolicyFromNumbers(text);
}

// There are few policies. A client with a new policy for every run gets no benefit from the cache,
// but causes no leak either.
constexpr std::size_t kMaxCached = 4'096;

}  // namespace

Result<void> PolicyCache::Fill(Connection& connection) {
    Query query = connection.Prepared(Sql::kListPolicies);
    query.Int(static_cast<std::int64_t>(kMaxCached));
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return {};
        const std::int64_t id = query.Int();
        KSANA_TRY(const model::RunPolicy policy, PolicyOf(query.View()));
        Add(id, policy);
    }
}

Result<model::RunPolicy> PolicyCache::Load(Connection& connection, std::int64_t id) {
    {
        const ReaderLock lock(mutex_);
        const auto found = by_id_.find(id);
        if (found != by_id_.end()) return found->second;
    }
    Query query = connection.Prepared(Sql::kLoadPolicy);
    KSANA_TRY(const bool row, query.Int(id).Next());
    if (!row) return Error(Code::kDataLoss, fmt::format("sqlite: policy {} is missing", id));
    // Not cached: the current transaction may have inserted the row.
    return PolicyOf(query.View());
}

void PolicyCache::Add(std::int64_t id, const model::RunPolicy& policy) {
    const WriterLock lock(mutex_);
    if (by_id_.size() >= kMaxCached) by_id_.clear();
    by_id_.emplace(id, policy);
}

Result<std::int64_t> PolicyWriter::IdOf(Connection& connection, const model::RunPolicy& policy) {
    const auto found = ids_.find(policy);
    if (found != ids_.end()) return found->second;
    const std::string text = store_kit::PolicyToText(policy);
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
