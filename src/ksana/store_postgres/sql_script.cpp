#include "ksana/store_postgres/sql_script.hpp"

namespace ksana::store_postgres {
namespace {

// Of the first one. The body of a function, between $$ and $$, has semicolons of its own.
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

}  // namespace ksana::store_postgres
