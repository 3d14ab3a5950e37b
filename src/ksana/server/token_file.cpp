#include "ksana/server/token_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

namespace ksana::server {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 512;

bool IsTokenCharacter(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

Result<std::string> ReadTokenFile(const std::string& path) {
    std::ifstream file(path);
    std::string token;
    if (!file || !std::getline(file, token)) {
        return Error(Code::kInvalidArgument,
                     fmt::format("api_token_file: cannot read a token from {}", path));
    }
    while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
    const bool plain = std::ranges::all_of(token, IsTokenCharacter);
    if (token.size() < kShortest || token.size() > kLongest || !plain) {
        return Error(Code::kInvalidArgument,
                     fmt::format("api_token_file: the first line of {} must be a token of {} to {} "
                                 "printable characters without blanks",
                                 path, kShortest, kLongest));
    }
    return token;
}

}  // namespace ksana::server
