#pragma once

#include <concepts>
#include <cstdint>
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

// JSON that nobody has a model for: what a client gets from an API and shows. Immutable; a part
// keeps the whole alive, so it may outlive the variable it was taken from. Cheap to copy.
class Json {
  public:
    Json();  // null

    // Strict, as ParseJson; the default bound is that of a page of a list, and more.
    static Result<Json> Parse(std::string_view text, std::size_t max_bytes = 32 << 20);
    // TOML as the same values.
    static Result<Json> ParseToml(std::string_view text);

    static Json Of(std::string_view text);
    static Json Of(std::int64_t number);
    // Not by conversion: a literal would become true.
    template <std::same_as<bool> B>
    static Json Of(B flag) {
        return OfFlag(flag);
    }
    static Json Object();  // without members
    // `items` in this order.
    static Json Array(const std::vector<Json>& items);

    bool IsNull() const;
    bool IsObject() const;
    bool IsArray() const;
    bool IsText() const;

    // The part that a JSON Pointer names ("/schedule/cron", "" is all of it); null where there is
    // none. Of an array by number.
    Json At(std::string_view pointer) const;
    bool Has(std::string_view pointer) const;

    // What a string holds; "" for null; everything else as JSON.
    std::string Text() const;
    std::string TextAt(std::string_view pointer) const { return At(pointer).Text(); }
    std::optional<std::int64_t> Int() const;
    std::optional<double> Number() const;
    bool True() const;

    std::vector<Json> Items() const;                            // of an array, else none
    std::vector<std::pair<std::string, Json>> Members() const;  // of an object, in its order

    // Another document, with `value` at this place; objects on the way are made. The place must be
    // a member of an object.
    Json With(std::string_view pointer, const Json& value) const;
    Json Without(std::string_view pointer) const;

    std::string Compact() const;
    std::string Pretty() const;  // two blanks a level, without a newline at the end

    friend bool operator==(const Json& a, const Json& b);

  private:
    explicit Json(std::shared_ptr<const boost::json::value> value) : value_(std::move(value)) {}
    static Json OfFlag(bool flag);
    static Json Make(boost::json::value value);

    std::shared_ptr<const boost::json::value> value_;  // never null
};

}  // namespace ksana::codec
