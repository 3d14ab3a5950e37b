#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::codec {

// One `key = value` of a flat TOML document, such as a configuration file.
struct FlatEntry {
    // Anything else than a text, a whole number or a list of texts: what it is, for a message.
    struct Other {
        std::string_view kind;
    };

    std::string key;
    int line = 0;
    std::variant<std::string, std::int64_t, std::vector<std::string>, Other> value;
};

// In the order of their lines. The error of what is no TOML names line and column, and of
// the text shows keys and single characters at most: a value may be a password.
Result<std::vector<FlatEntry>> ParseFlatToml(std::string_view text);

}  // namespace ksana::codec
