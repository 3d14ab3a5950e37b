#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

// Used inside codec/ only.

namespace ksana::codec {

enum class JsonStyle { kCompact, kPretty };

// Writes JSON into a text in the order of the calls, without building a tree of values. The caller
// keeps to the grammar: in an object a Key before every value, and an End for every Begin. Texts
// must be UTF-8. For one thread.
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
    void Double(double value);  // null if not finite: JSON cannot express that
    void Null();
    void Value(const boost::json::value& value);

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
    const bool pretty_;
    bool first_ = true;       // the innermost object or array is empty
    bool after_key_ = false;  // the value of a member is next
    std::size_t depth_ = 0;
};

// Returns the text of a value: numbers in plain notation (1.5, not 1.5E0), members in their order,
// two blanks of indentation per level when pretty.
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
