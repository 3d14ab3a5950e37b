#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::store_json {

// Writes a file as a whole: a temporary one beside it, fsync, rename, fsync of the folder. After a
// crash there is the old text or the new one. After an error too: the last step may have failed.
Result<void> ReplaceFile(const std::string& path, std::string_view text);

// kNotFound when there is none.
Result<std::string> ReadWholeFile(const std::string& path);

// Moves a file out of the way: jobs.json becomes jobs.bad.json, or jobs.bad.1.json, …: an earlier
// one is never overwritten (K-12). The new path.
Result<std::string> SetAside(const std::string& path);
// The same, but the file stays as well, for whoever writes another in its place: at no moment there
// is none.
Result<std::string> KeepBadCopy(const std::string& path);

// A file that grows at its end. Appending and syncing are one step: an error takes back what was
// appended. Not thread-safe.
class AppendFile {
  public:
    static Result<AppendFile> Open(const std::string& path);
    // A new file that takes the place of the one at the path. After an error the old one is there;
    // otherwise the new one is, though a crash may bring the old one back until it is settled.
    static Result<AppendFile> Replace(const std::string& path, std::string_view text);

    AppendFile() = default;
    AppendFile(AppendFile&& other) noexcept;
    AppendFile& operator=(AppendFile&& other) noexcept;
    ~AppendFile();

    // Durable afterwards, and so is the file's name.
    Result<void> Append(std::string_view text);
    // Cuts off what is behind; for taking back the last append.
    Result<void> CutTo(std::int64_t size);
    // Makes up for what an error left undone; nothing is appended before.
    Result<void> Settle();
    std::int64_t size() const { return size_; }

  private:
    AppendFile(std::string path, int descriptor, std::int64_t size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::string path_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;  // what counts; there may be rubbish behind it after an error
    bool dirty_ = false;     // there is, and it must go before anything is appended
    bool unnamed_ = false;   // the folder was not synced since the file got its name
};

}  // namespace ksana::store_json
