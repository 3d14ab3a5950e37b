#include "ksana/server/settings/token_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <string_view>

namespace ksana::server {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 512;

bool IsToken(std::string_view text) {
    return text.size() >= kShortest && text.size() <= kLongest &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string FirstLine(std::istream& file) {
    std::string line;
    std::getline(file, line);
    line.erase(line.find_last_not_of(" \r") + 1);
    return line;
}

}  // namespace

Result<std::string> ReadSecretFile(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return Error(Code::kInvalidArgument, fmt::format("cannot read {}", path));
    }
    std::string line = FirstLine(file);
    if (!line.empty()) return line;
    return Error(Code::kInvalidArgument, fmt::format("the first line of {} is empty", path));
}

Result<std::string> ReadTokenFile(const std::string& path) {
    auto token = ReadSecretFile(path);
    if (!token || IsToken(*token)) return token;
    return Error(Code::kInvalidArgument,
                 fmt::format("the first line of {} must be a token of {} to {} "
                             "printable characters without blanks",
                             path, kShortest, kLongest));
}

}  // namespace ksana::server
