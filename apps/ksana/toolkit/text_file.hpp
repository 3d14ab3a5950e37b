#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// All of a file; "-" is standard input. Beyond this size it is refused.
Result<std::string> ReadTextFile(const std::string& path, const Process& process,
                                 std::size_t max_bytes = 4 << 20);

// A file that holds JSON or TOML: by its name (.toml, .json), else by how it begins.
Result<codec::Json> ReadDataFile(const std::string& path, const Process& process);

// Lines of a file or a stream, one at a time. One thread.
class LineFile {
  public:
    // A line beyond it is refused, so that a file without lines does not fill the memory.
    static constexpr std::size_t kMaxLine = 256U << 20U;

    // kNotFound when there is none.
    static Result<LineFile> Open(const std::string& path);
    static LineFile Of(std::FILE* stream) { return {stream, nullptr}; }

    // Without its newline; false at the end. The last line needs none.
    Result<bool> Next(std::string& line);
    // Back to the first line; false for what can be read only once (a pipe).
    bool Rewind();

  private:
    struct Closer {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    using Owned = std::unique_ptr<std::FILE, Closer>;

    LineFile(std::FILE* stream, Owned owned) : stream_(stream), owned_(std::move(owned)) {}

    Result<bool> Fill();

    std::FILE* stream_;
    Owned owned_;  // none: the stream is somebody else's
    std::vector<char> buffer_ = std::vector<char>(64U << 10U);
    std::size_t begin_ = 0;  // what is in the buffer and not yet given out
    std::size_t end_ = 0;
};

}  // namespace ksana::app
