#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::exec {

// The longest result of a command: what a store keeps.
inline constexpr std::size_t kMaxCommandResult = 1 << 20;

// The folder with the files of an executor's commands. Others can pass through it but not list it,
// so that a command that runs as another user reaches its own two files. Removed when destroyed.
class CommandFolder {
  public:
    // Makes it below `parent`, with a name that is not used yet.
    static Result<std::string> Make(const std::string& parent);
    static void Remove(const std::string& folder);
};

// The payload and the result of one command. Only its user may read them. Removed when destroyed.
// Commands without a payload share an empty file, since making a file takes as long as starting a
// process on some file systems.
class CommandFiles {
  public:
    CommandFiles(const std::string& folder, std::string_view name, bool has_payload);
    ~CommandFiles();
    CommandFiles(const CommandFiles&) = delete;
    CommandFiles& operator=(const CommandFiles&) = delete;

    const std::string& payload() const { return payload_; }
    const std::string& result() const { return result_; }

    // Writes the payload. For a user other than that of this process, who cannot make files in the
    // folder, also makes an empty result, and gives him both.
    Result<void> Make(std::string_view payload, std::optional<std::uint32_t> uid);
    // Returns what the command wrote, as JSON: as it is if it is JSON, else as a text; empty if it
    // wrote nothing. kExhausted: it is too long.
    Result<std::string> TakeResult() const;

  private:
    const bool has_payload_;
    const std::string payload_;
    const std::string result_;
};

}  // namespace ksana::exec
