#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::codec {

// One `key = value` of a flat TOML document, such as a configuration file.
struct FlatEntry {
    // Any other value than a text, an integer or a list of texts; `kind` names its type for
    // messages.
    struct Other {
        std::string_view kind;
        std::optional<bool> truth = {};  // of a boolean
    };

    std::string key;
    int line = 0;
    std::variant<std::string, std::int64_t, std::vector<std::string>, Other> value;
};

// Returns the entries in the order of their lines. The error for invalid TOML names line and
// column. It quotes keys and single characters at most, because a value may be a password.
Result<std::vector<FlatEntry>> ParseFlatToml(std::string_view text);

}  // namespace ksana::codec
