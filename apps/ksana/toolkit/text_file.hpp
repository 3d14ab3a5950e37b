#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// Reads a whole file; "-" is standard input. kInvalidArgument if it cannot be read or is larger
// than `max_bytes`.
Result<std::string> ReadTextFile(const std::string& path, const Process& process,
                                 std::size_t max_bytes = 4 << 20);

// Reads a file of JSON or TOML. The name decides (.toml, .json), else the first characters.
Result<codec::Json> ReadDataFile(const std::string& path, const Process& process);

// Reads a file or a stream line by line. Owns the file that it opened, not a stream that it was
// given. One thread.
class LineFile {
  public:
    // A longer line is refused, so that a file without newlines does not fill the memory.
    static constexpr std::size_t kMaxLine = 256U << 20U;

    // Opens a file. kNotFound if it does not exist, kPermissionDenied if it may not be read.
    static Result<LineFile> Open(const std::string& path);
    static LineFile Of(std::FILE* stream) { return {stream, nullptr}; }

    // Reads the next line without its newline. Returns false at the end. The last line needs no
    // newline.
    Result<bool> Next(std::string& line);
    // Goes back to the first line. Returns false for a stream that can be read only once (a pipe).
    bool Rewind();

  private:
    struct Closer {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    using Owned = std::unique_ptr<std::FILE, Closer>;

    LineFile(std::FILE* stream, Owned owned) : stream_(stream), owned_(std::move(owned)) {}

    Result<bool> Fill();

    std::FILE* stream_;
    Owned owned_;  // null: the caller owns the stream
    std::vector<char> buffer_ = std::vector<char>(64U << 10U);
    std::size_t begin_ = 0;  // [begin_, end_): bytes read and not yet returned
    std::size_t end_ = 0;
};

}  // namespace ksana::app
