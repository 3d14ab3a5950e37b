#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

// Inside codec/ only.

namespace ksana::codec {

enum class JsonStyle { kCompact, kPretty };

// Writes JSON straight into a text, in the order of the calls: what is sent or stored needs no tree
// of values first. Whoever calls keeps to the grammar: in an object a Key before every value, and
// an End for every Begin. Texts must be UTF-8.
class JsonOutput {
  public:
    explicit JsonOutput(JsonStyle style = JsonStyle::kCompact);

    void BeginObject() { Begin('{'); }
    void EndObject() { End('}'); }
    void BeginArray() { Begin('['); }
    void EndArray() { End(']'); }

    void Key(std::string_view key);
    void Text(std::string_view text);
    void Bool(bool value);
    void Int(std::int64_t value);
    void Unsigned(std::uint64_t value);
    void Double(double value);  // null where it is not finite: JSON has no word for that
    void Null();
    void Value(const boost::json::value& value);

    std::string Take() { return std::move(text_); }

  private:
    void Begin(char bracket);
    void End(char bracket);
    // What stands between this item and the one before.
    void Separate();
    void NewLine();
    void Quote(std::string_view text);
    void Escape(char c);

    std::string text_;
    const bool pretty_;
    bool first_ = true;       // nothing is in the innermost object or array yet
    bool after_key_ = false;  // the value of a member comes next
    std::size_t depth_ = 0;
};

// Text of a value: numbers as people write them (1.5, not 1.5E0), members in their order, two
// blanks of indentation when pretty.
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
