#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::api {

// Writes a JSON object member by member. Texts may be any bytes. Does not check for repeated names.
// For one thread.
class ObjectText {
  public:
    ObjectText() { output_.BeginObject(); }

    // Adds `json`, which must be a JSON value already.
    ObjectText& Raw(std::string_view name, std::string_view json) {
        output_.Key(name);
        output_.Raw(json);
        return *this;
    }
    ObjectText& Put(std::string_view name, std::string_view text) {
        output_.Key(name);
        output_.PrintableText(text);
        return *this;
    }
    ObjectText& Put(std::string_view name, const std::string& text) {
        return Put(name, std::string_view(text));
    }
    ObjectText& Put(std::string_view name, const char* text) {
        return Put(name, std::string_view(text));
    }
    ObjectText& Put(std::string_view name, std::int64_t number) {
        output_.Key(name);
        output_.Int(number);
        return *this;
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

    std::string Take() {
        output_.EndObject();
        return output_.Take();
    }

  private:
    JsonOutput output_;
};

}  // namespace ksana::api
