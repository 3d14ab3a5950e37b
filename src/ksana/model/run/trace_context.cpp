#include "ksana/model/run/trace_context.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "ksana/base/ids/hash.hpp"

namespace ksana::model {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kSize = 55;  // "00-" trace "-" span "-01"
constexpr unsigned kSampled = 1;
// In Run::trace_parent only: the trace began with a run here, so the sampler decides about it and
// no submitter has. Never sent.
constexpr unsigned kOwnTrace = 2;
constexpr char kLinkMark = '~';

bool IsLowerHex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Returns the number that hex digits stand for.
std::uint64_t HexNumber(std::string_view digits) {
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return number;
}

struct Parsed {
    TraceContext context;
    unsigned flags = 0;
};

std::optional<Parsed> Parse(std::string_view text) {
    if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') {
        return std::nullopt;
    }
    const std::string_view version = text.substr(0, 2);
    const std::string_view trace = text.substr(3, kTraceDigits);
    const std::string_view span = text.substr(36, kSpanDigits);
    const std::string_view flags = text.substr(53, 2);
    if (!IsLowerHex(version) || !IsLowerHex(trace) || !IsLowerHex(span) || !IsLowerHex(flags)) {
        return std::nullopt;
    }
    const bool longer = text.size() > kSize;
    if (version == "ff" || (longer && (version == "00" || text[kSize] != '-'))) return std::nullopt;
    if (trace.find_first_not_of('0') == std::string_view::npos) return std::nullopt;
    Parsed parsed;
    parsed.context.trace_id = trace;
    parsed.context.span = HexNumber(span);
    parsed.flags = static_cast<unsigned>(HexNumber(flags));
    parsed.context.sampled = (parsed.flags & kSampled) != 0;
    if (parsed.context.span == 0) return std::nullopt;
    return parsed;
}

// Returns what the run continues; nothing if it begins a trace.
std::optional<Parsed> ParentOf(const Run& run) {
    if (run.trace_parent.empty() || run.trace_parent.front() == kLinkMark) return std::nullopt;
    return Parse(run.trace_parent);
}

std::string Text(std::string_view trace_id, std::uint64_t span, unsigned flags) {
    return fmt::format("00-{}-{:016x}-{:02x}", trace_id, span, flags);
}

std::uint64_t NotZero(std::uint64_t span) { return std::max<std::uint64_t>(1, span); }

// W3C calls the last 56 bits of a trace id its random part; those of a UUIDv7 are random.
bool IsWithin(double ratio, std::string_view trace_id) {
    constexpr std::size_t kDigits = 14;
    constexpr double kRange = 72057594037927936.0;  // 2^56
    const auto number = HexNumber(trace_id.substr(trace_id.size() - kDigits));
    return static_cast<double>(number) < ratio * kRange;
}

}  // namespace

std::optional<TraceContext> ParseTraceParent(std::string_view text) {
    auto parsed = Parse(text);
    if (!parsed) return std::nullopt;
    return std::move(parsed->context);
}

std::string FormatTraceParent(const TraceContext& context) {
    return Text(context.trace_id, context.span, context.sampled ? kSampled : 0);
}

std::string SpanIdText(std::uint64_t span) { return fmt::format("{:016x}", span); }

bool TraceSampler::Samples(const Run& run) const {
    const auto parent = ParentOf(run);
    const bool told = parent && (parent->flags & kOwnTrace) == 0;
    if (told && parent_based) return parent->context.sampled;
    switch (kind) {
        case Kind::kAlwaysOn:
            return true;
        case Kind::kAlwaysOff:
            return false;
        case Kind::kRatio:
            return IsWithin(ratio, parent ? parent->context.trace_id : TraceIdOf(run));
    }
    return true;
}

std::string TraceIdOf(const Run& run) {
    if (auto parent = ParentOf(run)) return std::move(parent->context.trace_id);
    std::string id = run.id.ToString();
    std::erase(id, '-');
    return id;
}

std::uint64_t RootSpanOf(const Uuid& run_id) { return PartSpanOf(run_id, "run", 0); }

std::uint64_t AttemptSpanOf(const Uuid& run_id, std::int32_t number) {
    return PartSpanOf(run_id, "attempt", number);
}

std::string AttemptSpanText(const Run& run) {
    return SpanIdText(AttemptSpanOf(run.id, run.status.attempt));
}

std::uint64_t PartSpanOf(const Uuid& run_id, std::string_view part, std::int64_t number) {
    const auto& bytes = run_id.bytes;
    std::string text(bytes.begin(), bytes.end());
    return NotZero(HashText(text.append(part), number));
}

std::string TraceParentOf(const Run& run, const TraceSampler& sampler) {
    return Text(TraceIdOf(run), AttemptSpanOf(run.id, run.status.attempt),
                sampler.Samples(run) ? kSampled : 0);
}

std::string TraceParentForChild(const Run& parent) {
    const auto above = ParentOf(parent);
    return Text(TraceIdOf(parent), RootSpanOf(parent.id), above ? above->flags : kOwnTrace);
}

std::string TraceLinkTo(const Run& cause) {
    return kLinkMark + Text(TraceIdOf(cause), RootSpanOf(cause.id), kSampled);
}

StoredTrace StoredTraceOf(const Run& run) {
    StoredTrace stored;
    if (run.trace_parent.empty()) return stored;
    if (run.trace_parent.front() == kLinkMark) {
        stored.link = ParseTraceParent(std::string_view(run.trace_parent).substr(1));
    } else {
        stored.parent = ParseTraceParent(run.trace_parent);
    }
    return stored;
}

}  // namespace ksana::model
