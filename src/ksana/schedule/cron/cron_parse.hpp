#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/schedule/cron/cron_days.hpp"
#include "ksana/schedule/cron/cron_parser.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"

namespace ksana::schedule {

// Parses an expression at run time. The error (kInvalidArgument) names the field and the reason.
Result<CronSpec> ParseCron(std::string_view text, const CronSyntax& syntax = {});

// Returns the field and the reason of a fault, for messages that point at its position.
std::string DescribeCronFault(std::string_view text, const CronFault& fault, CronDialect dialect);

// Returns an expression that parses to an equal spec.
std::string FormatCron(const CronSpec& spec);

// Never defined: a call in a constant expression makes compilation fail with the function's name,
// the only part of a message that both g++ and clang print.
void cron_expression_is_empty();
void cron_needs_5_or_6_fields();
void cron_value_is_out_of_range();
void cron_expression_is_malformed();
void cron_form_is_not_in_this_dialect();
void cron_never_fires();

// Parses an expression at compile time: constexpr auto kNightly = CronLiteral("0 3 * * *");
consteval CronSpec CronLiteral(std::string_view text, CronSyntax syntax = {}) {
    const CronParsed parsed = ParseCronText(text, syntax);
    switch (parsed.fault.kind) {
        case CronFault::Kind::kNone:
            break;
        case CronFault::Kind::kEmpty:
            cron_expression_is_empty();
            break;
        case CronFault::Kind::kTooFewFields:
        case CronFault::Kind::kTooManyFields:
            cron_needs_5_or_6_fields();
            break;
        case CronFault::Kind::kOutOfRange:
        case CronFault::Kind::kReversed:
        case CronFault::Kind::kBadStep:
        case CronFault::Kind::kBadOffset:
        case CronFault::Kind::kBadNth:
            cron_value_is_out_of_range();
            break;
        case CronFault::Kind::kNotInDialect:
            cron_form_is_not_in_this_dialect();
            break;
        default:
            cron_expression_is_malformed();
            break;
    }
    if (!EverMatches(parsed.spec)) cron_never_fires();
    return parsed.spec;
}

}  // namespace ksana::schedule
