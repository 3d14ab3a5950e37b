#include "ksana/model/run/attempt_log.hpp"

namespace ksana::model {
namespace {

constexpr std::string_view kBegin = R"({"log":[)";
constexpr std::string_view kEnd = "]";

// Returns the text between the brackets, or "" if the detail does not consist of a log only.
std::string_view LinesOf(std::string_view detail) {
    if (!detail.starts_with(kBegin) || !detail.ends_with("]}")) return {};
    detail.remove_prefix(kBegin.size());
    detail.remove_suffix(2);
    return detail;
}

// Returns the lines without the first one.
std::string_view DropFirst(std::string_view lines) {
    std::size_t at = 1;
    while (at < lines.size() && lines[at] != '"') at += lines[at] == '\\' ? 2 : 1;
    at += 1;                         // the quote
    if (at < lines.size()) at += 1;  // the comma
    return at < lines.size() ? lines.substr(at) : std::string_view();
}

}  // namespace

std::string_view NewestLines(std::string_view lines) {
    while (lines.size() > kMaxAttemptLog) lines = DropFirst(lines);
    return lines;
}

std::string WithLines(std::string_view detail, std::string_view lines) {
    std::string all(LinesOf(detail));
    if (!all.empty() && !lines.empty()) all += ',';
    all += lines;
    const std::string_view kept = NewestLines(all);
    if (kept.empty()) return {};
    return std::string(kBegin).append(kept).append(kEnd).append("}");
}

std::string WithLogOf(std::string_view before, std::string detail) {
    const std::string_view lines = LinesOf(before);
    if (lines.empty()) return detail;
    if (!detail.empty() && !detail.starts_with('{')) return detail;
    std::string merged = std::string(kBegin).append(lines).append(kEnd);
    const std::string_view rest = detail.empty() ? "}" : std::string_view(detail).substr(1);
    if (!rest.starts_with('}')) merged += ',';
    return merged.append(rest);
}

}  // namespace ksana::model
