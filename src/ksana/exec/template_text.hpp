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

// Where a template stands, and so what becomes of values: none of them can add a parameter, an
// element, a header, a line or a host that the template does not have. What cannot be escaped in a
// place is refused.
enum class TemplatePlace : std::uint8_t {
    kUrl,     // percent-encoded; a part of a host has letters, digits and - only; no segment ..
    kForm,    // percent-encoded (application/x-www-form-urlencoded)
    kJson,    // inside quotes as part of the string, outside as a JSON value
    kXml,     // & < > " ' as entities, also for HTML; no other control characters than XML has
    kHeader,  // inside quotes with \" and \\; no control characters
    kPlain,   // no control characters, unless the value is the whole text
    kText,    // values as they are: an argument of a program is one, whatever it holds
};

// The longest result of FillTemplate.
inline constexpr std::size_t kMaxFilled = 4 << 20;

// Replaces {{name}} by its value; blanks around the name are ignored. "{{{{" is a literal "{{", and
// "}}" without an opening stays. Placeholders inside values are not replaced. Returns
// kInvalidArgument for an unknown name, for a placeholder that is not closed, and for a result
// longer than kMaxFilled.
Result<std::string> FillTemplate(std::string_view text, TemplatePlace place,
                                 const TemplateLookup& lookup);

// What a body is by its Content-Type (null: it has none), and without one by its look.
TemplatePlace PlaceOfBody(std::string_view body, const std::string* content_type);

// Returns whether the text looks like the body of a form: "name=" and more, without blanks.
bool StartsLikeForm(std::string_view text);

// Returns whether the text starts like a JSON object or array, and not with a placeholder.
bool StartsLikeJson(std::string_view text);

}  // namespace ksana::exec
