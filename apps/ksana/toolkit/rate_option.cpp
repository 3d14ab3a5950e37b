#include "apps/ksana/toolkit/rate_option.hpp"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using codec::Json;

constexpr std::string_view kNone = "none";
constexpr std::string_view kBurst = ",burst=";

std::optional<std::int64_t> NumberOf(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1) return {};
    return number;
}

Error BadRate(std::string_view text) {
    return {Code::kInvalidArgument,
            fmt::format("--rate \"{}\" is not COUNT/DURATION such as 10/1m or 10/1m,burst=20",
                        Printable(Excerpt(text, 80)))};
}

}  // namespace

std::vector<OptionSpec> LimitOptions() {
    return {{"max-concurrency", '\0', "N", "runs at once, on each node; none takes it away", ""},
            {"rate", '\0', "COUNT/PER", "starts, like 10/1m or 10/1m,burst=20; none takes it away",
             ""}};
}

Result<Json> RateOf(std::string_view text) {
    if (text == kNone) return Json();
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return BadRate(text);
    const auto count = NumberOf(text.substr(0, slash));
    std::string_view rest = text.substr(slash + 1);
    std::optional<std::int64_t> burst;
    if (const std::size_t at = rest.find(kBurst); at != std::string_view::npos) {
        burst = NumberOf(rest.substr(at + kBurst.size()));
        if (!burst) return BadRate(text);
        rest = rest.substr(0, at);
    }
    const auto per = ParseDuration(rest);
    if (!count || !per || *per <= Duration::zero()) return BadRate(text);
    Json rate =
        Json().With("/count", Json::Of(*count)).With("/per", Json::Of(FormatDuration(*per)));
    if (burst) rate = rate.With("/burst", Json::Of(*burst));
    return rate;
}

Result<Json> WithLimits(Json body, const Arguments& arguments) {
    if (arguments.Has("max-concurrency")) {
        const std::string& text = arguments.Get("max-concurrency");
        const auto number = NumberOf(text);
        if (!number && text != kNone) {
            return Error(Code::kInvalidArgument,
                         "--max-concurrency must be a whole number from 1 on, or none");
        }
        body = body.With("/max_concurrency", number ? Json::Of(*number) : Json());
    }
    if (arguments.Has("rate")) {
        KSANA_TRY(const Json rate, RateOf(arguments.Get("rate")));
        body = body.With("/rate", rate);
    }
    return body;
}

std::string RateText(const Json& rate) {
    if (!rate.IsObject()) return "";
    const std::string burst = rate.TextAt("/burst");
    return fmt::format("{}/{}{}", rate.TextAt("/count"), rate.TextAt("/per"),
                       burst.empty() || burst == "1" ? "" : fmt::format(",burst={}", burst));
}

}  // namespace ksana::app
