#include "ksana/codec/without_nul.hpp"

#include "ksana/base/utf8.hpp"

namespace ksana::codec {

std::string WithoutNul(std::string text, std::size_t most) {
    if (text.find('\0') == std::string::npos) return text;
    std::string out;
    for (const char c : text) {
        if (c == '\0') {
            out += "\xEF\xBF\xBD";
        } else {
            out += c;
        }
    }
    return std::string(CutText(out, most));
}

}  // namespace ksana::codec
