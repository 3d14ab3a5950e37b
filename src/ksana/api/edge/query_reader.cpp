#include "ksana/api/edge/query_reader.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::api {
namespace {

constexpr std::size_t kMostShown = 80;  // bytes of client input in messages

std::string PathOf(std::string_view name) {
    return "/query" + PointerStep(Excerpt(name, kMostShown));
}

}  // namespace

void QueryReader::Fault(std::string_view name, std::string message, std::string_view code) {
    problems_.push_back({PathOf(name), std::move(message), code, {}});
}

void QueryReader::NotAllowed(std::string_view name, std::string_view value,
                             std::span<const std::string_view> allowed) {
    const auto meant = Nearest(value, allowed);
    problems_.push_back({PathOf(name),
                         fmt::format("\"{}\" is not one of {}{}", Excerpt(value, kMostShown),
                                     fmt::join(allowed, ", "),
                                     meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
                         "not_allowed",
                         {allowed.begin(), allowed.end()}});
}

std::vector<std::string_view> QueryReader::All(std::string_view name) {
    known_.push_back(name);
    std::vector<std::string_view> values;
    for (const auto& [key, value] : request_.query) {
        if (key == name) values.push_back(value);
    }
    return values;
}

std::optional<std::string_view> QueryReader::Find(std::string_view name) {
    const auto values = All(name);
    if (values.empty()) return std::nullopt;
    if (values.size() > 1) Fault(name, "stands more than once", "repeated");
    return values.front();
}

std::string QueryReader::Text(std::string_view name) {
    return std::string(Find(name).value_or(""));
}

std::optional<bool> QueryReader::Flag(std::string_view name) {
    const auto text = Find(name);
    if (!text) return std::nullopt;
    if (*text != "true" && *text != "false") Fault(name, "must be true or false", "wrong_type");
    return *text == "true";
}

std::size_t QueryReader::Number(std::string_view name, std::size_t least, std::size_t most,
                                std::size_t fallback) {
    const auto text = Find(name);
    if (!text) return fallback;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    const bool whole = error == std::errc() && end == text->data() + text->size();
    if (whole && number >= least && number <= most) return number;
    Fault(name, fmt::format("must be {} to {}", least, most), "out_of_range");
    return fallback;
}

std::optional<TimePoint> QueryReader::Time(std::string_view name) {
    const auto text = Find(name);
    if (!text) return std::nullopt;
    const auto time = ParseTime(*text);
    if (time) return *time;
    Fault(name, time.error().message);
    return std::nullopt;
}

Duration QueryReader::Length(std::string_view name, Duration most, Duration fallback) {
    const auto text = Find(name);
    if (!text) return fallback;
    const auto length = ParseDuration(*text);
    if (!length) {
        Fault(name, length.error().message);
    } else if (*length < Duration::zero() || *length > most) {
        Fault(name, fmt::format("must be 0s to {}", FormatDuration(most)), "out_of_range");
    } else {
        return *length;
    }
    return fallback;
}

std::optional<Uuid> QueryReader::Id(std::string_view name) {
    const auto text = Find(name);
    if (!text) return std::nullopt;
    const auto id = Uuid::Parse(*text);
    if (!id) Fault(name, "is no UUID");
    return id;
}

void QueryReader::Unknown(std::string_view name) {
    if (known_.empty()) return Fault(name, "is not known: there is no query here", "unknown");
    const auto meant = Nearest(name, known_);
    problems_.push_back({PathOf(name),
                         fmt::format("is not known{}; there are {}",
                                     meant ? fmt::format("; did you mean \"{}\"", *meant) : "",
                                     fmt::join(known_, ", ")),
                         "unknown",
                         {known_.begin(), known_.end()}});
}

Result<void> QueryReader::Finish() {
    for (const auto& [name, value] : request_.query) {
        if (std::ranges::find(known_, name) == known_.end()) Unknown(name);
    }
    if (problems_.empty()) return {};
    return Error(std::move(problems_));
}

}  // namespace ksana::api
