// tests/build/CMakeLists.txt compiles this file once for each case; the compiler must reject every
// case.

#include "ksana/schedule/cron/cron_parse.hpp"

using ksana::schedule::CronLiteral;

#if defined(CASE_empty)
constexpr auto kSpec = CronLiteral("");
#elif defined(CASE_fields)
constexpr auto kSpec = CronLiteral("* * * *");
#elif defined(CASE_range)
constexpr auto kSpec = CronLiteral("61 * * * *");
#elif defined(CASE_malformed)
constexpr auto kSpec = CronLiteral("1,,2 * * * *");
#elif defined(CASE_dialect)
constexpr auto kSpec = CronLiteral("0 0 L * *", {ksana::schedule::CronDialect::kLibrary, {}});
#elif defined(CASE_never)
constexpr auto kSpec = CronLiteral("0 0 30 2 *");
#endif
