#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace ksana::codec {

class Schema;

// What the description of the API says about one member: its meaning, its valid values and an
// example. It is given in FieldsOf beside the member, and only the description reads it. Readers
// and writers take it in functions that are always inlined, so that an optimised build creates
// none. A plain value.
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
    // The value as JSON; a text without its quotes.
    constexpr Doc Example(const char* value) const {
        Doc doc = *this;
        doc.example = value;
        return doc;
    }
    // For a default other than that of the structure; written as for Example.
    constexpr Doc Default(const char* value) const {
        Doc doc = *this;
        doc.default_value = value;
        return doc;
    }
    // For a member whose type does not tell its valid values.
    constexpr Doc As(Schema (*make)()) const {
        Doc doc = *this;
        doc.schema = make;
        return doc;
    }

    // Plain pointers: the compiler removes an unused Doc only if constructing it takes no work.
    const char* means = nullptr;
    const char* pattern = nullptr;
    const char* example = nullptr;
    const char* default_value = nullptr;
    std::int64_t least = kNoBound;
    std::int64_t most = kNoBound;
    Schema (*schema)() = nullptr;
};

// What the description says about a structure as a whole; used as FieldsOf<T>::kSchema.
struct SchemaDoc {
    // Name among the schemas of the description; empty: the schema is written where it is used.
    std::string_view name = {};
    std::string_view means = {};
    std::string_view example = {};  // JSON
    // True: only the server writes the structure. Then every member is present unless it is Rare or
    // optional, and none has a default. False: the structure is a request body, in which only
    // Required members must be present.
    bool answer = false;
};

}  // namespace ksana::codec
