#include "ksana/line_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "ksana/base/utf8.hpp"

namespace ksana::app {

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
