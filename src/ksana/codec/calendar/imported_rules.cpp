#include "ksana/codec/calendar/imported_rules.hpp"

#include <vector>

#include <fmt/core.h>

#include "ksana/schedule/zone/date_text.hpp"

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

namespace {

using schedule::CalendarRule;
using schedule::Date;

std::string_view Trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool BeginsWithDigit(std::string_view text) {
    return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// Splits a line into fields. In quotes a comma is text, and "" is a quote.
std::vector<std::string> Fields(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"') {
            const bool twice = quoted && i + 1 < line.size() && line[i + 1] == '"';
            if (twice)
                fields.back() += line[++i];
            else
                quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    for (std::string& field : fields) field = std::string(Trimmed(field));
    return fields;
}

// Returns why the field is not a date, or "".
std::string ReadDay(const std::string& field, Date& day) {
    const auto parsed = schedule::ParseDate(field);
    if (!parsed) return "is no date such as 2026-10-01";
    if (!parsed->IsValid()) return "there is no such date";
    day = *parsed;
    return "";
}

// Returns why the line is not a rule, or "".
std::string ReadRuleLine(const std::vector<std::string>& fields, CalendarRule& rule) {
    CalendarRule::DateSpan span;
    if (std::string fault = ReadDay(fields[0], span.first); !fault.empty()) return fault;
    span.last = span.first;
    // The second field is the end or, if there is no end, the name.
    if (fields.size() > 1 && BeginsWithDigit(fields[1])) {
        if (const std::string fault = ReadDay(fields[1], span.last); !fault.empty()) {
            return "the end " + fault;
        }
    } else if (fields.size() > 2 && !fields[1].empty()) {
        return "the end is no date such as 2026-10-01";
    }
    if (fields.size() > 3) return "has more than date, end and name";
    if (span.last < span.first) return "ends before it starts";
    rule.dates = span;
    return "";
}

}  // namespace

Result<ImportedRules> RulesFromCsv(std::string_view text) {
    KSANA_TRY_VOID(CheckImportSize(text));
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    RuleCollector found;
    bool first = true;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = Trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty()) continue;
        const std::vector<std::string> fields = Fields(line);
        const bool header = first && !BeginsWithDigit(fields[0]);
        first = false;
        if (header) continue;
        CalendarRule rule;
        if (std::string fault = ReadRuleLine(fields, rule); fault.empty()) {
            found.Add(rule);
        } else {
            found.Skip(number, std::move(fault));
        }
        KSANA_TRY_VOID(found.Check());
    }
    return found.Take();
}

}  // namespace ksana::codec
