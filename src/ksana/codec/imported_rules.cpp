#include "ksana/codec/imported_rules.hpp"

#include <fmt/core.h>

namespace ksana::codec {
namespace {

Error AtText(std::string message, std::string_view code = "invalid") {
    return Error(std::vector<Problem>{{"/text", std::move(message), code, {}}});
}

}  // namespace

Result<void> CheckImportSize(std::string_view text) {
    if (text.size() <= kMaxImportBytes) return {};
    return AtText(fmt::format("is larger than {} bytes", kMaxImportBytes), "out_of_range");
}

Result<void> RuleCollector::Check() const {
    if (found_.rules.size() > kMaxImportedRules) {
        return AtText(fmt::format("has more than {} rules", kMaxImportedRules), "out_of_range");
    }
    if (found_.skipped.size() > kMaxSkippedLines) {
        const SkippedLine& first = found_.skipped.front();
        return AtText(fmt::format("cannot be read in more than {} places; the first is line {}: {}",
                                  kMaxSkippedLines, first.line, first.reason));
    }
    return {};
}

Result<ImportedRules> RuleCollector::Take() {
    KSANA_TRY_VOID(Check());
    if (!found_.rules.empty()) return std::move(found_);
    if (found_.skipped.empty()) return AtText("holds no date");
    const SkippedLine& first = found_.skipped.front();
    return AtText(
        fmt::format("holds nothing that can be used; line {}: {}", first.line, first.reason));
}

}  // namespace ksana::codec
