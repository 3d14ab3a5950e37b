#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::exec {

// What stands for a placeholder: {text: `a"b`, json: `"a\"b"`}, {text: `3`, json: `3`}.
struct TemplateValue {
    std::string text;
    std::string json;
};

// Nothing: there is no such name.
using TemplateLookup = std::function<std::optional<TemplateValue>(std::string_view name)>;

enum class TemplatePlace : std::uint8_t {
    kUrl,   // values are percent-encoded
    kJson,  // inside quotes as part of the string, outside as a JSON value of their own
    kText,  // values as they are; also headers, whose whole value is checked afterwards
};

// Longer results are refused.
inline constexpr std::size_t kMaxFilled = 4 << 20;

// Puts values in the place of {{name}}; blanks around the name do not count. "{{{{" is a literal
// "{{", and "}}" without an opening is itself. Values are not looked into for further placeholders.
// Fails for a name that is not known, naming it, and for one that is not closed.
Result<std::string> FillTemplate(std::string_view text, TemplatePlace place,
                                 const TemplateLookup& lookup);

// Starts like a JSON object or array, and not with a placeholder.
bool StartsLikeJson(std::string_view text);

}  // namespace ksana::exec
