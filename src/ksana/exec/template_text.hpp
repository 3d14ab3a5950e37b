#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::exec {

// The value of a placeholder: {text: `a"b`, json: `"a\"b"`}, {text: `3`, json: `3`}.
struct TemplateValue {
    std::string text;
    std::string json;
};

// Returns the value of a placeholder, or nothing if the name is unknown.
using TemplateLookup = std::function<std::optional<TemplateValue>(std::string_view name)>;

enum class TemplatePlace : std::uint8_t {
    kUrl,   // values are percent-encoded
    kJson,  // inside quotes as part of the string, outside as a JSON value
    kText,  // values as they are; also for headers, whose whole value is checked afterwards
};

// The longest result of FillTemplate.
inline constexpr std::size_t kMaxFilled = 4 << 20;

// Replaces {{name}} by its value; blanks around the name are ignored. "{{{{" is a literal "{{", and
// "}}" without an opening stays. Placeholders inside values are not replaced. Returns
// kInvalidArgument for an unknown name, for a placeholder that is not closed, and for a result
// longer than kMaxFilled.
Result<std::string> FillTemplate(std::string_view text, TemplatePlace place,
                                 const TemplateLookup& lookup);

// Returns whether the text starts like a JSON object or array, and not with a placeholder.
bool StartsLikeJson(std::string_view text);

}  // namespace ksana::exec
