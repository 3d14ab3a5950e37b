#pragma once

#include <string_view>

namespace ksana {

// Something that goes into paths, keys and command lines without quoting: 1 to 128 letters, digits
// and - _ . :
inline constexpr std::size_t kMaxIdentifierLength = 128;
bool IsIdentifier(std::string_view text);

}  // namespace ksana
