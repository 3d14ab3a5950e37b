#include "ksana/store_sqlite/compact_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>

namespace ksana::store_sqlite {
namespace {

Error Damaged(std::string_view what) {
    return {Code::kDataLoss, fmt::format("sqlite: a stored {} cannot be read", what)};
}

void AppendPiece(std::string& out, std::string_view piece) {
    fmt::format_to(std::back_inserter(out), "{}:{}", piece.size(), piece);
}

std::optional<std::string_view> TakePiece(std::string_view& text) {
    std::size_t length = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (fault != std::errc() || digits >= text.size() || text[digits] != ':') return std::nullopt;
    text.remove_prefix(digits + 1);
    if (length > text.size()) return std::nullopt;
    const std::string_view piece = text.substr(0, length);
    text.remove_prefix(length);
    return piece;
}

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

std::string MapToText(const std::map<std::string, std::string>& map) {
    std::string out;
    for (const auto& [key, value] : map) {
        AppendPiece(out, key);
        AppendPiece(out, value);
    }
    return out;
}

Result<std::map<std::string, std::string>> MapFromText(std::string_view text) {
    std::map<std::string, std::string> map;
    while (!text.empty()) {
        const auto key = TakePiece(text);
        const auto value = TakePiece(text);
        if (!key || !value) return Damaged("map");
        map.emplace(*key, *value);
    }
    return map;
}

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
    if (!numbers.ok()) return Damaged("policy");
    return policy;
}

}  // namespace ksana::store_sqlite
