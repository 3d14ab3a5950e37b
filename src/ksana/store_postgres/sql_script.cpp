#include "ksana/store_postgres/sql_script.hpp"

namespace ksana::store_postgres {

std::vector<std::string_view> StatementsOf(std::string_view script) {
    std::vector<std::string_view> statements;
    while (true) {
        const std::size_t start = script.find_first_not_of(" \n");
        if (start == std::string_view::npos) return statements;
        script.remove_prefix(start);
        const std::size_t end = script.find(";\n");
        statements.push_back(script.substr(0, end));
        if (end == std::string_view::npos) return statements;
        script.remove_prefix(end + 2);
    }
}

}  // namespace ksana::store_postgres
