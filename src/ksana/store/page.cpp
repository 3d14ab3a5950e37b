#include "ksana/store/page.hpp"

#include <fmt/core.h>

#include <charconv>

namespace ksana::store {
namespace {

Error BadCursor() {
    return Error(std::vector<Problem>{{"/cursor", "is not a cursor of this list and order"}});
}

}  // namespace

// Format: sort:length:value id, without the space. The length tells where the id begins, whatever
// the value contains.
std::string MakeCursor(std::string_view sort, const Position& position) {
    return fmt::format("{}:{}:{}{}", sort, position.value.size(), position.value, position.id);
}

Result<std::optional<Position>> ParseCursor(std::string_view sort, std::string_view cursor) {
    if (cursor.empty()) return std::optional<Position>();
    if (!cursor.starts_with(sort) || cursor.size() <= sort.size() || cursor[sort.size()] != ':') {
        return BadCursor();
    }
    cursor.remove_prefix(sort.size() + 1);
    std::size_t length = 0;
    const auto [end, fault] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), length);
    const auto digits = static_cast<std::size_t>(end - cursor.data());
    if (fault != std::errc() || digits >= cursor.size() || cursor[digits] != ':') {
        return BadCursor();
    }
    cursor.remove_prefix(digits + 1);
    if (length > cursor.size()) return BadCursor();
    return std::optional(
        Position{std::string(cursor.substr(0, length)), std::string(cursor.substr(length))});
}

}  // namespace ksana::store
