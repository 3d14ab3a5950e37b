#include "ksana/text_file.hpp"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace ksana::app {
namespace {

struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

Result<std::string> ReadAll(std::FILE* file, const std::string& path, std::size_t max_bytes) {
    std::string text;
    std::array<char, 1 << 16> bytes{};
    for (;;) {
        const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file);
        text.append(bytes.data(), got);
        if (text.size() > max_bytes) {
            return Error(Code::kInvalidArgument,
                         fmt::format("{} is larger than {} bytes", path, max_bytes));
        }
        if (got > 0) continue;
        if (std::ferror(file) == 0) return text;
        return Error(Code::kInvalidArgument,
                     fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
}

bool LooksLikeJson(const std::string& path, const std::string& text) {
    if (path.ends_with(".toml")) return false;
    if (path.ends_with(".json")) return true;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || text[first] == '{') return true;
    // [1, 2] or [table]: a table has its name at once.
    return text[first] == '[' && text.find_first_of("{\"", first) == first + 1;
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, const Process& process,
                                 std::size_t max_bytes) {
    if (path == "-") return ReadAll(process.in, "standard input", max_bytes);
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) {
        return Error(Code::kInvalidArgument,
                     fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    return ReadAll(file.get(), path, max_bytes);
}

Result<codec::Json> ReadDataFile(const std::string& path, const Process& process) {
    KSANA_TRY(const std::string text, ReadTextFile(path, process));
    auto parsed =
        LooksLikeJson(path, text) ? codec::Json::Parse(text) : codec::Json::ParseToml(text);
    if (!parsed) {
        return std::move(parsed).error().WithContext(path == "-" ? "standard input" : path);
    }
    return parsed;
}

}  // namespace ksana::app
