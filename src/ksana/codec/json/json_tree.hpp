#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace boost::json {
class value;
}  // namespace boost::json

namespace ksana::codec {

// JSON that has no model: what a client gets from an API and shows. Immutable and cheap to copy,
// hence safe to read from several threads. A part keeps the whole document alive, so it may outlive
// the variable it was taken from.
class Json {
  public:
    Json();  // null

    // Parses strictly, as ParseJson does. The default limit exceeds the largest page of a list.
    static Result<Json> Parse(std::string_view text, std::size_t max_bytes = 32 << 20);
    // Parses TOML into the same values. `line_of`, if given, is set to a function that returns the
    // line of a JSON Pointer, or of its nearest existing parent.
    static Result<Json> ParseToml(std::string_view text,
                                  std::function<int(std::string_view pointer)>* line_of = nullptr);

    static Json Of(std::string_view text);
    static Json Of(std::int64_t number);
    // A template, so that a string literal does not convert to bool.
    template <std::same_as<bool> B>
    static Json Of(B flag) {
        return OfFlag(flag);
    }
    static Json Object();  // without members
    static Json Array(const std::vector<Json>& items);

    bool IsNull() const;
    bool IsObject() const;
    bool IsArray() const;
    bool IsText() const;

    // Returns the part that a JSON Pointer names ("/schedule/cron"; "" is the whole), items of an
    // array by number. Returns null if there is none.
    Json At(std::string_view pointer) const;
    bool Has(std::string_view pointer) const;

    // Returns the content of a string, "" for null, and any other value as JSON.
    std::string Text() const;
    std::string TextAt(std::string_view pointer) const { return At(pointer).Text(); }
    std::optional<std::int64_t> Int() const;
    std::optional<double> Number() const;
    bool True() const;

    std::vector<Json> Items() const;                            // of an array; else empty
    std::vector<std::pair<std::string, Json>> Members() const;  // of an object, in its order

    // Returns a copy with `value` at `pointer`, which must name a member of an object. Creates
    // missing objects on the way.
    Json With(std::string_view pointer, const Json& value) const;
    Json Without(std::string_view pointer) const;

    std::string Compact() const;
    std::string Pretty() const;  // two blanks per level, no newline at the end

    friend bool operator==(const Json& a, const Json& b);

  private:
    explicit Json(std::shared_ptr<const boost::json::value> value) : value_(std::move(value)) {}
    static Json OfFlag(bool flag);
    static Json Make(boost::json::value value);

    std::shared_ptr<const boost::json::value> value_;  // never null
};

}  // namespace ksana::codec
