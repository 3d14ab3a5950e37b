#include "ksana/exec/template_text.hpp"

#include <fmt/core.h>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

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

// Fills one template in one pass. In JSON it tracks whether the position is inside a string.
class Filler {
  public:
    Filler(TemplatePlace place, const TemplateLookup& lookup) : place_(place), lookup_(lookup) {}

    Result<std::string> Fill(std::string_view text) {
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
            KSANA_TRY_VOID(Put(Trimmed(text.substr(kOpen.size(), close - kOpen.size()))));
            text.remove_prefix(close + kClose.size());
            if (out_.size() > kMaxFilled) return TooLong();
        }
        if (out_.size() > kMaxFilled) return TooLong();
        return std::move(out_);
    }

  private:
    static Error TooLong() {
        return Error(Code::kInvalidArgument,
                     fmt::format("longer than {} bytes with its values", kMaxFilled));
    }

    void Copy(std::string_view text) {
        out_.append(text);
        if (place_ != TemplatePlace::kJson) return;
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

    Result<void> Put(std::string_view name) {
        const auto value = lookup_(name);
        if (!value) {
            return Error(Code::kInvalidArgument,
                         fmt::format("there is no value for the placeholder \"{}\"",
                                     Excerpt(Printable(name), 80)));
        }
        if (place_ == TemplatePlace::kUrl) {
            out_ += PercentEncode(value->text);
        } else if (place_ == TemplatePlace::kText) {
            out_ += value->text;
        } else {
            PutJson(*value);
        }
        return {};
    }

    // Inside quotes, a string is inserted without its own quotes. Any other value is inserted as
    // its JSON text, with quotes escaped.
    void PutJson(const TemplateValue& value) {
        if (!in_string_) {
            out_ += value.json;
        } else if (value.json.starts_with('"')) {
            out_.append(value.json, 1, value.json.size() - 2);
        } else {
            for (const char c : value.text) {
                if (c == '"' || c == '\\') out_ += '\\';
                out_ += c;
            }
        }
    }

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

bool StartsLikeJson(std::string_view text) {
    const std::string_view trimmed = Trimmed(text);
    return trimmed.starts_with('[') || (trimmed.starts_with('{') && !trimmed.starts_with(kOpen));
}

}  // namespace ksana::exec
