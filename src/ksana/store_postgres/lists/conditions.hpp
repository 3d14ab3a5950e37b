#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// Builds the WHERE clause of a list from its filter. Values are parameters and not part of the text
// (except for sets of states, run_columns.hpp), so that equal kinds of filters share a prepared
// statement. Not thread-safe; lives for one call.
class Conditions {
  public:
    // Adds `condition`, in which {} stands for the parameter's number: "r.type = ${}::text".
    template <class T>
    void Add(fmt::format_string<std::size_t> condition, const T& value) {
        params_.Add(value);
        And(fmt::format(condition, params_.size()));
    }
    template <class T>
    void AddArray(fmt::format_string<std::size_t> condition, const std::vector<T>& values) {
        params_.Array(values);
        And(fmt::format(condition, params_.size()));
    }
    // As Add; an empty value adds nothing.
    void AddText(fmt::format_string<std::size_t> condition, const std::string& value) {
        if (!value.empty()) Add(condition, value);
    }
    void And(std::string_view condition) {
        text_ += text_.empty() ? " WHERE " : " AND ";
        text_ += condition;
    }
    // Requires every word in at least one of the fields. Letters A–Z match a–z; other characters
    // match only themselves.
    void AddWords(const std::vector<std::string>& words, const std::vector<std::string>& fields) {
        for (const std::string& word : words) {
            params_.Add(word);
            std::string any;
            for (const std::string& field : fields) {
                any += fmt::format("{}strpos(lower({} COLLATE \"C\"), ${}::text) > 0",
                                   any.empty() ? "" : " OR ", field, params_.size());
            }
            And(fmt::format("({})", any));
        }
    }
    // Adds a parameter for another place in the statement and returns its number.
    template <class T>
    std::size_t Number(const T& value) {
        params_.Add(value);
        return params_.size();
    }
    template <class T>
    std::size_t Array(const std::vector<T>& values) {
        params_.Array(values);
        return params_.size();
    }

    const std::string& text() const { return text_; }
    Params Take() { return std::move(params_); }

  private:
    std::string text_;
    Params params_;
};

}  // namespace ksana::store_postgres
