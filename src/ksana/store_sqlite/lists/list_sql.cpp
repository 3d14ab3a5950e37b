#include "ksana/store_sqlite/lists/list_sql.hpp"

#include <fmt/core.h>

namespace ksana::store_sqlite {

void ListSql::Where(std::string_view condition) {
    text += any_condition ? " AND " : " WHERE ";
    text += condition;
    any_condition = true;
}

void ListSql::Where(std::string_view condition, Value value) {
    Where(condition);
    values.push_back(std::move(value));
}

void ListSql::Words(const std::vector<std::string>& words,
                    std::initializer_list<std::string_view> in) {
    for (const std::string& word : words) {
        std::string condition = "(";
        for (const std::string_view field : in) {
            if (condition.size() > 1) condition += " OR ";
            condition += fmt::format("instr(lower({}), ?)>0", field);
            values.emplace_back(word);
        }
        Where(condition + ")");
    }
}

void ListSql::BindTo(Query& query) const {
    for (const Value& value : values) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            query.Int(*number);
        } else if (const auto* text_value = std::get_if<std::string_view>(&value)) {
            query.Text(*text_value);
        } else if (const auto* own = std::get_if<std::string>(&value)) {
            query.Text(*own);
        } else if (const auto* blob = std::get_if<Bytes>(&value)) {
            query.Bytes(blob->bytes);
        } else {
            query.Id(std::get<Uuid>(value));
        }
    }
}

}  // namespace ksana::store_sqlite
