#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace ksana::codec {

class Schema;

// What the description of the API says about one member: its meaning, the values that it takes and
// an example. It stands in FieldsOf beside the member; only the description reads it. Readers and
// writers take it in functions that are always inlined, so that an optimised build makes none.
class Doc {
  public:
    static constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::min();

    constexpr Doc() = default;
    constexpr Doc(const char* meaning) : means(meaning) {}  // NOLINT(google-explicit-constructor)

    // Bounds of a number, of the length of a text, or of the number of items of an array.
    constexpr Doc AtLeast(std::int64_t bound) const {
        Doc doc = *this;
        doc.least = bound;
        return doc;
    }
    constexpr Doc AtMost(std::int64_t bound) const {
        Doc doc = *this;
        doc.most = bound;
        return doc;
    }
    constexpr Doc Between(std::int64_t low, std::int64_t high) const {
        return AtLeast(low).AtMost(high);
    }
    constexpr Doc Pattern(const char* expression) const {
        Doc doc = *this;
        doc.pattern = expression;
        return doc;
    }
    // The value as its JSON has it; a text without its quotes.
    constexpr Doc Example(const char* value) const {
        Doc doc = *this;
        doc.example = value;
        return doc;
    }
    // Where the default is not that of the structure: the value as for Example.
    constexpr Doc Default(const char* value) const {
        Doc doc = *this;
        doc.default_value = value;
        return doc;
    }
    // Where the type of the member does not say which values it takes.
    constexpr Doc As(Schema (*make)()) const {
        Doc doc = *this;
        doc.schema = make;
        return doc;
    }

    // Plain pointers: the compiler does away with a Doc that nobody reads only if making one takes
    // no work.
    const char* means = nullptr;
    const char* pattern = nullptr;
    const char* example = nullptr;
    const char* default_value = nullptr;
    std::int64_t least = kNoBound;
    std::int64_t most = kNoBound;
    Schema (*schema)() = nullptr;
};

// What the description says about a structure as a whole: FieldsOf<T>::kSchema.
struct SchemaDoc {
    // Among the schemas of the description; empty: it is written where it is used.
    std::string_view name = {};
    std::string_view means = {};
    std::string_view example = {};  // JSON
    // Only the server writes it: a member is there unless it is Rare or optional, and has no
    // default. Else it is a body, in which only what is Required must be there.
    bool answer = false;
};

}  // namespace ksana::codec
