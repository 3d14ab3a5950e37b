#pragma once

#include <string>
#include <string_view>

namespace ksana::codec {

// What programs say about their work (an error, a note, a line of log) may hold anything, and no
// store keeps a NUL. Such a text is not worth refusing a report for: U+FFFD takes the NUL's place,
// and what is then longer than `most` bytes is cut. Shorter texts are never cut.
std::string WithoutNul(std::string text, std::size_t most);

}  // namespace ksana::codec
