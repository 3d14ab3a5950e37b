#include "ksana/libpq/sql_text.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace ksana::libpq {
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

namespace {

// Returns the end of the first statement. A function body between $$ and $$ has semicolons of its
// own.
std::size_t EndOfStatement(std::string_view script) {
    std::size_t from = 0;
    while (true) {
        const std::size_t end = script.find(";\n", from);
        const std::size_t body = script.find("$$", from);
        if (body >= end) return end;
        const std::size_t body_end = script.find("$$", body + 2);
        if (body_end == std::string_view::npos) return body_end;
        from = body_end + 2;
    }
}

}  // namespace

std::vector<std::string_view> StatementsOf(std::string_view script) {
    std::vector<std::string_view> statements;
    while (true) {
        const std::size_t start = script.find_first_not_of(" \n");
        if (start == std::string_view::npos) return statements;
        script.remove_prefix(start);
        const std::size_t end = EndOfStatement(script);
        statements.push_back(script.substr(0, end));
        if (end == std::string_view::npos) return statements;
        script.remove_prefix(end + 2);
    }
}

}  // namespace ksana::libpq
