#include "ksana/store_postgres/schema_name.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ksana::store_postgres {
namespace {

constexpr std::string_view kWritten = "ksana.";
constexpr std::size_t kMaxSchemaName = 40;

}  // namespace

std::string WithSchema(std::string_view sql, std::string_view schema) {
    std::string text;
    text.reserve(sql.size() + 64);
    while (true) {
        const std::size_t at = sql.find(kWritten);
        if (at == std::string_view::npos) break;
        text.append(sql.substr(0, at)).append(1, '"').append(schema).append("\".");
        sql.remove_prefix(at + kWritten.size());
    }
    return text.append(sql);
}

Result<void> CheckSchemaName(std::string_view schema) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool fine = !schema.empty() && schema.size() <= kMaxSchemaName &&
                      std::all_of(schema.begin(), schema.end(), fits) &&
                      !(schema.front() >= '0' && schema.front() <= '9');
    if (fine) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("\"{}\" is no name for the schema: lower-case letters, digits and _, "
                             "at most {} of them",
                             schema, kMaxSchemaName));
}

}  // namespace ksana::store_postgres
