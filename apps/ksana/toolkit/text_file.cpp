#include "apps/ksana/toolkit/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/core.h>

#include "ksana/base/text/utf8.hpp"

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
    // A JSON array of objects or strings, or one that goes on in the next line. Any other bracket
    // counts as a TOML header, "[table]", which stands in one line.
    if (text[first] != '[') return false;
    const std::size_t next = text.find_first_not_of(" \t\r\n", first + 1);
    if (next == std::string::npos) return true;
    const bool broken = text.substr(first, next - first).find('\n') != std::string::npos;
    return broken || text[next] == '{' || (next == first + 1 && text[next] == '"');
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

Result<LineFile> LineFile::Open(const std::string& path) {
    Owned file(std::fopen(path.c_str(), "rbe"));
    if (!file) {
        const int error = errno;
        return Error(error == ENOENT   ? Code::kNotFound
                     : error == EACCES ? Code::kPermissionDenied
                                       : Code::kInternal,
                     fmt::format("cannot read {}: {}", Printable(path),
                                 std::generic_category().message(error)));
    }
    std::FILE* const stream = file.get();
    return LineFile(stream, std::move(file));
}

Result<bool> LineFile::Fill() {
    begin_ = 0;
    end_ = std::fread(buffer_.data(), 1, buffer_.size(), stream_);
    if (end_ > 0) return true;
    if (std::ferror(stream_) == 0) return false;
    return Error(Code::kInternal,
                 fmt::format("cannot be read: {}", std::generic_category().message(errno)));
}

Result<bool> LineFile::Next(std::string& line) {
    line.clear();
    bool any = false;
    for (;;) {
        if (begin_ == end_) {
            KSANA_TRY(const bool more, Fill());
            if (!more) return any;
        }
        any = true;
        const auto first = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
        const auto last = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
        const auto newline = std::find(first, last, '\n');
        line.append(first, newline);
        if (line.size() > kMaxLine) {
            return Error(Code::kInvalidArgument, "is longer than a line can be");
        }
        begin_ = newline == last ? end_ : static_cast<std::size_t>(newline - buffer_.begin()) + 1;
        if (newline != last) return true;
    }
}

bool LineFile::Rewind() {
    if (std::fseek(stream_, 0, SEEK_SET) != 0) return false;
    begin_ = end_ = 0;
    return true;
}

}  // namespace ksana::app
