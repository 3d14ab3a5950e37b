#include "ksana/exec/template_text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::exec {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kLiteralOpen = "{{{{";
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool IsControl(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
}

bool IsControlInXml(char c) { return IsControl(c) && c != '\t' && c != '\n' && c != '\r'; }
bool IsControlInHeader(char c) { return IsControl(c) && c != '\t'; }

std::string XmlEscape(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\'':
                escaped += "&#39;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

// Counts the segments "." and ".." of a URL's path, also percent-encoded ones: clients take them
// out, with the segment in front of "..".
std::size_t DotSegments(std::string_view url) {
    url = url.substr(0, url.find_first_of("?#"));
    std::size_t count = 0;
    while (!url.empty()) {
        const std::size_t slash = std::min(url.find('/'), url.size());
        std::string segment(url.substr(0, slash));
        for (std::size_t at = segment.find('%'); at != std::string::npos;
             at = segment.find('%', at + 1)) {
            const std::string_view code = std::string_view(segment).substr(at, 3);
            if (code == "%2e" || code == "%2E") segment.replace(at, 3, ".");
        }
        if (segment == "." || segment == "..") ++count;
        url.remove_prefix(std::min(slash + 1, url.size()));
    }
    return count;
}

// Fills one template in one pass. In JSON and headers it tracks whether the position is inside
// quotes.
class Filler {
  public:
    Filler(TemplatePlace place, const TemplateLookup& lookup) : place_(place), lookup_(lookup) {}

    Result<std::string> Fill(std::string_view text) {
        const std::string_view whole = text;
        while (!text.empty()) {
            const std::size_t open = text.find(kOpen);
            Copy(text.substr(0, open));
            if (open == std::string_view::npos) break;
            text.remove_prefix(open);
            if (text.starts_with(kLiteralOpen)) {
                Copy(kOpen);
                text.remove_prefix(kLiteralOpen.size());
                continue;
            }
            const std::size_t close = text.find(kClose);
            if (close == std::string_view::npos) {
                return Error(Code::kInvalidArgument,
                             fmt::format("the placeholder at \"{}\" is not closed",
                                         Excerpt(Printable(text), 40)));
            }
            const std::string_view name = Trimmed(text.substr(kOpen.size(), close - kOpen.size()));
            text.remove_prefix(close + kClose.size());
            KSANA_TRY_VOID(Put(name, text));
            if (out_.size() > kMaxFilled) return TooLong();
        }
        if (out_.size() > kMaxFilled) return TooLong();
        if (place_ == TemplatePlace::kUrl && DotSegments(out_) > DotSegments(whole)) {
            return Error(Code::kInvalidArgument,
                         "a value makes \".\" or \"..\" of a segment of the path");
        }
        return std::move(out_);
    }

  private:
    static Error TooLong() {
        return Error(Code::kInvalidArgument,
                     fmt::format("longer than {} bytes with its values", kMaxFilled));
    }

    void Copy(std::string_view text) {
        out_.append(text);
        if (place_ != TemplatePlace::kJson && place_ != TemplatePlace::kHeader) return;
        for (const char c : text) {
            if (escaped_) {
                escaped_ = false;
            } else if (in_string_ && c == '\\') {
                escaped_ = true;
            } else if (c == '"') {
                in_string_ = !in_string_;
            }
        }
    }

    // `rest`: the template behind the placeholder.
    Result<void> Put(std::string_view name, std::string_view rest) {
        const auto value = lookup_(name);
        if (!value) {
            return Error(
                Code::kInvalidArgument,
                fmt::format("there is no value for the placeholder \"{}\"", Excerpt(name, 80)));
        }
        if (const char* const fault = FaultOf(value->text, rest)) {
            return Error(
                Code::kInvalidArgument,
                fmt::format("the value of the placeholder \"{}\" {}", Excerpt(name, 80), fault));
        }
        PutEscaped(*value);
        return {};
    }

    // Why the value cannot stand here; null: it can, escaped.
    const char* FaultOf(std::string_view value, std::string_view rest) const {
        switch (place_) {
            case TemplatePlace::kUrl:
                return FaultInUrl(value, rest);
            case TemplatePlace::kXml:
                return std::ranges::any_of(value, IsControlInXml)
                           ? "holds a control character, which XML cannot have"
                           : nullptr;
            case TemplatePlace::kHeader:
                return std::ranges::any_of(value, IsControlInHeader)
                           ? "holds a line break or another control character"
                           : nullptr;
            case TemplatePlace::kPlain:
                // Alone it is the text; beside other text it must not add lines to it.
                return !(out_.empty() && rest.empty()) && std::ranges::any_of(value, IsControl)
                           ? "holds a line break or another control character, which only a JSON, "
                             "form or XML body can escape"
                           : nullptr;
            default:
                return nullptr;
        }
    }

    // A value may be the whole host, or a part of one of its labels.
    const char* FaultInUrl(std::string_view value, std::string_view rest) const {
        const std::size_t scheme = out_.find("://");
        if (scheme == std::string::npos) return nullptr;
        const std::string_view authority = std::string_view(out_).substr(scheme + 3);
        if (authority.find_first_of("/?#") != std::string_view::npos) return nullptr;
        const bool whole =
            authority.empty() && (rest.empty() || kAfterHost.find(rest.front()) != kAfterHost.npos);
        const bool plain = !value.empty() && std::ranges::all_of(value, [](char c) {
            return c == '-' || (c != '.' && c != '_' && c != ':' && IsIdentifierChar(c));
        });
        return whole || plain ? nullptr
                              : "is a part of the host: it may have letters, digits and - only";
    }

    void PutEscaped(const TemplateValue& value) {
        switch (place_) {
            case TemplatePlace::kUrl:
            case TemplatePlace::kForm:
                out_ += PercentEncode(value.text);
                break;
            case TemplatePlace::kJson:
                out_ += in_string_ ? InsideQuotes(value) : value.json;
                break;
            case TemplatePlace::kXml:
                out_ += XmlEscape(value.text);
                break;
            case TemplatePlace::kHeader:
                for (const char c : value.text) {
                    if (in_string_ && (c == '"' || c == '\\')) out_ += '\\';
                    out_ += c;
                }
                break;
            case TemplatePlace::kPlain:
            case TemplatePlace::kText:
                out_ += value.text;
        }
    }

    // A string without its own quotes; the JSON text of any other value as a string.
    static std::string InsideQuotes(const TemplateValue& value) {
        const std::string quoted =
            value.json.starts_with('"') ? value.json : codec::QuoteJson(value.text);
        return quoted.substr(1, quoted.size() - 2);
    }

    static constexpr std::string_view kAfterHost = "/?#:";

    const TemplatePlace place_;
    const TemplateLookup& lookup_;
    std::string out_;
    bool in_string_ = false;
    bool escaped_ = false;
};

}  // namespace

Result<std::string> FillTemplate(std::string_view text, TemplatePlace place,
                                 const TemplateLookup& lookup) {
    return Filler(place, lookup).Fill(text);
}

TemplatePlace PlaceOfBody(std::string_view body, const std::string* content_type) {
    if (content_type != nullptr && !content_type->empty()) {
        const std::string type = LowerText(*content_type);
        const auto has = [&type](std::string_view word) { return type.find(word) != type.npos; };
        if (has("json")) return TemplatePlace::kJson;
        if (has("x-www-form-urlencoded")) return TemplatePlace::kForm;
        if (has("xml") || has("html")) return TemplatePlace::kXml;
    }
    if (StartsLikeJson(body)) return TemplatePlace::kJson;
    if (content_type != nullptr && !content_type->empty()) return TemplatePlace::kPlain;
    if (Trimmed(body).starts_with('<')) return TemplatePlace::kXml;
    return StartsLikeForm(body) ? TemplatePlace::kForm : TemplatePlace::kPlain;
}

bool StartsLikeForm(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const std::string_view name = text.substr(0, equals);
    return std::ranges::all_of(name,
                               [](char c) {
                                   return IsIdentifierChar(c) || c == '[' || c == ']' || c == '%' ||
                                          c == '+';
                               }) &&
           text.find_first_of(" \t\r\n<>", equals) == std::string_view::npos;
}

bool StartsLikeJson(std::string_view text) {
    const std::string_view trimmed = Trimmed(text);
    return trimmed.starts_with('[') || (trimmed.starts_with('{') && !trimmed.starts_with(kOpen));
}

}  // namespace ksana::exec
