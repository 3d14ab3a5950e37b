#include "ksana/store_sqlite/policy_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace ksana::store_sqlite {
namespace {

// Reads numbers with one blank between them.
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

}  // namespace

// Taken apart by name, so that a new member does not go unnoticed here.
std::string PolicyToText(const model::RunPolicy& policy) {
    const auto& [retry, timeout, stop_grace, overlap, ignores_overlap, run_log, need_manual,
                 success_callback, error_callback] = policy;
    const auto& [strategy, max_retries, interval, sequence, max_interval, jitter] = retry;
    std::string out = fmt::format(
        "{:d} {} {} {} {} {} {} {:d} {:d} {:d} {:d} {:d} {:d}", static_cast<int>(strategy),
        max_retries, interval.count(), max_interval.count(), jitter, timeout.count(),
        stop_grace.count(), static_cast<int>(overlap), ignores_overlap, static_cast<int>(run_log),
        need_manual, success_callback, error_callback);
    for (const Duration step : sequence) {
        fmt::format_to(std::back_inserter(out), " {}", step.count());
    }
    return out;
}

Result<model::RunPolicy> PolicyFromText(std::string_view text) {
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

}  // namespace ksana::store_sqlite
