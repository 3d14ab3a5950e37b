#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"

namespace ksana::app {

// The destination of a large output: a file, or an open stream that the caller owns. A file is
// written under a temporary name next to its place, with access for its owner only, and Commit()
// renames it; without Commit() the destructor deletes it. Owned by the command. One thread.
class OutputFile {
  public:
    // Returns kAlreadyExists if the file exists and `replace` is false, and kInvalidArgument if the
    // path is not a regular file.
    static Result<OutputFile> Create(const std::string& path, bool replace);
    static OutputFile Of(std::FILE* stream) { return {stream, nullptr, "", "", false}; }

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    Result<void> Write(std::string_view text);
    // Flushes the output; for a file, also syncs it and renames it into place.
    Result<void> Commit();

  private:
    struct Closer {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    using Owned = std::unique_ptr<std::FILE, Closer>;

    OutputFile(std::FILE* stream, Owned owned, std::string path, std::string temporary,
               bool replace)
        : stream_(stream),
          owned_(std::move(owned)),
          path_(std::move(path)),
          temporary_(std::move(temporary)),
          replace_(replace) {}

    Error Failed(int error) const;

    std::FILE* stream_;
    Owned owned_;            // null: the caller owns the stream
    std::string path_;       // empty: a stream
    std::string temporary_;  // empty: no temporary file to delete
    bool replace_;
};

// A line on the terminal such as "exported 12000 records", redrawn at most every 200 ms and removed
// by the destructor. Shows nothing without a terminal. `process` and `verb` must outlive it. One
// thread.
class ProgressLine {
  public:
    ProgressLine(const Process& process, std::string_view verb) : process_(process), verb_(verb) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    void Show(std::int64_t records);

  private:
    const Process& process_;
    std::string_view verb_;
    std::optional<SteadyPoint> shown_;
};

}  // namespace ksana::app
