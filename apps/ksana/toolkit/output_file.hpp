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

// Where a large output goes: a file that appears whole or not at all, or a stream that is there
// already. A file is written beside its place under another name, readable by its owner only, and
// is gone when it was not committed. One thread.
class OutputFile {
  public:
    // Refuses a file that is there (kAlreadyExists) unless `replace`, and anything but a file.
    static Result<OutputFile> Create(const std::string& path, bool replace);
    static OutputFile Of(std::FILE* stream) { return {stream, nullptr, "", "", false}; }

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    Result<void> Write(std::string_view text);
    // Durable afterwards.
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
    Owned owned_;            // none: the stream is somebody else's
    std::string path_;       // empty: a stream
    std::string temporary_;  // empty: nothing to clear away
    bool replace_;
};

// "exported 12000 records …", a few times a second while somebody watches; gone at the end.
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
