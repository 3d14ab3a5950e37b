#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::store_json {

// Replaces a whole file: writes a temporary file beside it, fsync, rename, fsync of the folder.
// After a crash or an error the file holds either the old text or the new one (the last step may
// have failed).
Result<void> ReplaceFile(const std::string& path, std::string_view text);

// Returns kNotFound if there is no such file.
Result<std::string> ReadWholeFile(const std::string& path);

// Renames a file: jobs.json becomes jobs.bad.json, or jobs.bad.1.json, …; never overwrites an
// earlier one (K-12). Returns the new path.
Result<std::string> SetAside(const std::string& path);
// Does the same but also keeps the file, for a caller that replaces it: at no moment is there no
// file.
Result<std::string> KeepBadCopy(const std::string& path);

// A file that grows at its end. Append writes and syncs in one step; after an error the appended
// bytes are removed, or do not count until Settle removes them. Owns its descriptor. Not
// thread-safe.
class AppendFile {
  public:
    // Opens or creates the file and syncs its folder.
    static Result<AppendFile> Open(const std::string& path);
    // Replaces the file at `path` by a new one with `text`. After an error the old file is in
    // place. Otherwise the new one is, although a crash may bring the old one back until Settle
    // succeeds.
    static Result<AppendFile> Replace(const std::string& path, std::string_view text);

    AppendFile() = default;
    AppendFile(AppendFile&& other) noexcept;
    AppendFile& operator=(AppendFile&& other) noexcept;
    ~AppendFile();

    // Appends text; on return both the text and the file's name are durable.
    Result<void> Append(std::string_view text);
    // Truncates the file to `size`; for undoing the last append.
    Result<void> CutTo(std::int64_t size);
    // Finishes what an error left undone. Append does this first.
    Result<void> Settle();
    std::int64_t size() const { return size_; }

  private:
    AppendFile(std::string path, int descriptor, std::int64_t size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::string path_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;  // bytes that count; after an error the file may be longer
    // The file is longer than size_ and must be truncated before the next append.
    bool dirty_ = false;
    bool folder_unsynced_ = false;  // the folder was not synced since the file was renamed
};

}  // namespace ksana::store_json
