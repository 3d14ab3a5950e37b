#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/result.hpp"

namespace ksana::store_json {

// Writes a file as a whole: a temporary one beside it, fsync, rename, fsync of the folder. After a
// crash there is the old text or the new one; after an error the old one.
Result<void> ReplaceFile(const std::string& path, std::string_view text);

// kNotFound when there is none.
Result<std::string> ReadWholeFile(const std::string& path);

// Moves a file out of the way: jobs.json becomes jobs.bad.json, or jobs.bad.1.json, …: an earlier
// one is never overwritten (K-12). The new path.
Result<std::string> SetAside(const std::string& path);

// A file that grows at its end. Appending and syncing are one step: an error takes back what was
// appended. Not thread-safe.
class AppendFile {
  public:
    static Result<AppendFile> Open(const std::string& path);

    AppendFile() = default;
    AppendFile(AppendFile&& other) noexcept;
    AppendFile& operator=(AppendFile&& other) noexcept;
    ~AppendFile();

    // Durable afterwards.
    Result<void> Append(std::string_view text);
    // Cuts off what is behind; for taking back the last append.
    Result<void> CutTo(std::int64_t size);
    std::int64_t size() const { return size_; }

  private:
    AppendFile(std::string path, int descriptor, std::int64_t size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::string path_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;  // what counts; there may be rubbish behind it after an error
    bool dirty_ = false;     // there is, and it must go before anything is appended
};

}  // namespace ksana::store_json
