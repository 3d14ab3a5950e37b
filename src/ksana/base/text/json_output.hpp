#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ksana {

enum class JsonStyle { kCompact, kPretty };

// The one writer of JSON: writes straight into a text, in the order of the calls, without a tree of
// values. The caller keeps to the grammar: in an object a Key before every value, and an End for
// every Begin. Belongs to one thread.
class JsonOutput {
  public:
    explicit JsonOutput(JsonStyle style = JsonStyle::kCompact);

    void BeginObject() { Begin('{'); }
    void EndObject() { End('}'); }
    void BeginArray() { Begin('['); }
    void EndArray() { End(']'); }

    void Key(std::string_view key);
    void Text(std::string_view text);  // must be UTF-8
    // Any bytes: where they are not UTF-8, the text shows them as \xNN.
    void PrintableText(std::string_view text);
    void Bool(bool value);
    void Int(std::int64_t value);
    void Unsigned(std::uint64_t value);
    void Double(double value);  // null if not finite: JSON cannot express that
    void Null();
    // A value that is JSON already.
    void Raw(std::string_view json);

    // A member whose value is a text.
    void TextMember(std::string_view key, std::string_view text) {
        Key(key);
        Text(text);
    }

    std::string Take() { return std::move(text_); }

  private:
    void Begin(char bracket);
    void End(char bracket);
    // Writes what separates this item from the one before.
    void Separate();
    void NewLine();
    void Quote(std::string_view text);
    void Escape(char c);

    std::string text_;
    bool pretty_;
    bool first_ = true;       // nothing is in the innermost object or array yet
    bool after_key_ = false;  // the value of a member comes next
    std::size_t depth_ = 0;
};

}  // namespace ksana
