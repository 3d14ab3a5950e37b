#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time_text.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::api {

// Writes a JSON object member by member. Does not check for repeated names. For one thread.
class ObjectText {
  public:
    // Adds `json`, which must be a JSON value already.
    ObjectText& Raw(std::string_view name, std::string_view json) {
        text_ += text_.size() == 1 ? "" : ",";
        http_server::AppendJsonString(text_, name);
        text_ += ':';
        text_ += json;
        return *this;
    }
    ObjectText& Put(std::string_view name, std::string_view text) {
        std::string quoted;
        http_server::AppendJsonString(quoted, text);
        return Raw(name, quoted);
    }
    ObjectText& Put(std::string_view name, const std::string& text) {
        return Put(name, std::string_view(text));
    }
    ObjectText& Put(std::string_view name, const char* text) {
        return Put(name, std::string_view(text));
    }
    ObjectText& Put(std::string_view name, std::int64_t number) {
        return Raw(name, std::to_string(number));
    }
    ObjectText& Put(std::string_view name, double number) {
        return Raw(name, fmt::format("{}", number));
    }
    ObjectText& Put(std::string_view name, bool yes) { return Raw(name, yes ? "true" : "false"); }
    ObjectText& Put(std::string_view name, TimePoint time) { return Put(name, FormatTime(time)); }
    ObjectText& Put(std::string_view name, Duration duration) {
        return Put(name, FormatDuration(duration));
    }
    // Adds nothing if the value is empty.
    template <class T>
    ObjectText& Put(std::string_view name, const std::optional<T>& value) {
        return value ? Put(name, *value) : *this;
    }

    std::string Take() { return std::move(text_) + "}"; }

  private:
    std::string text_ = "{";
};

}  // namespace ksana::api
