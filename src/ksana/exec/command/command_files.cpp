#include "ksana/exec/command/command_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "ksana/codec/json/json_text.hpp"
#include "ksana/exec/answer_outcome.hpp"

namespace ksana::exec {
namespace {

constexpr mode_t kPassThrough = 0711;
constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kReadOnly = 0444;
constexpr const char* kNoPayload = "none.payload";

Error FileFault(std::string_view what, const std::string& path) {
    return {Code::kExhausted,
            fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(errno))};
}

bool WriteAll(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

Result<void> MakeFile(const std::string& path, std::string_view text,
                      std::optional<std::uint32_t> uid) {
    const int file =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
    if (file < 0) return FileFault("make", path);
    const bool ok =
        WriteAll(file, text) && (!uid || fchown(file, *uid, static_cast<gid_t>(-1)) == 0);
    close(file);
    if (!ok) return FileFault("write", path);
    return {};
}

std::string AsJson(std::string text) {
    if (codec::IsJson(text)) return text;
    while (text.ends_with('\n')) text.pop_back();  // as $(…) of a shell does
    return codec::QuoteJson(HarmlessText(text, 3 * text.size()));
}

}  // namespace

Result<std::string> CommandFolder::Make(const std::string& parent) {
    std::string path = parent + "/ksana-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return FileFault("make a folder in", parent);
    const std::string empty = path + "/" + kNoPayload;
    KSANA_TRY_VOID(MakeFile(empty, {}, {}));
    if (chmod(empty.c_str(), kReadOnly) != 0) return FileFault("open", empty);
    if (chmod(path.c_str(), kPassThrough) != 0) return FileFault("open", path);
    return path;
}

void CommandFolder::Remove(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
}

CommandFiles::CommandFiles(const std::string& folder, std::string_view name, bool has_payload)
    : has_payload_(has_payload),
      payload_(has_payload ? fmt::format("{}/{}.payload", folder, name)
                           : fmt::format("{}/{}", folder, kNoPayload)),
      result_(fmt::format("{}/{}.result", folder, name)) {}

CommandFiles::~CommandFiles() {
    if (has_payload_) unlink(payload_.c_str());
    unlink(result_.c_str());
}

Result<void> CommandFiles::Make(std::string_view payload, std::optional<std::uint32_t> uid) {
    if (has_payload_) KSANA_TRY_VOID(MakeFile(payload_, payload, uid));
    if (uid) KSANA_TRY_VOID(MakeFile(result_, {}, uid));
    return {};
}

// The command may have put anything in place of the file: a link, a pipe, a folder.
Result<std::string> CommandFiles::TakeResult() const {
    const int file = open(result_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return std::string();
    if (file < 0) return FileFault("read the result", result_);
    struct stat about {};
    if (fstat(file, &about) != 0 || about.st_size == 0) {
        close(file);
        return std::string();
    }
    std::string text(kMaxCommandResult + 1, '\0');
    std::size_t size = 0;
    ssize_t got = 0;
    while (size < text.size() && (got = read(file, text.data() + size, text.size() - size)) > 0) {
        size += static_cast<std::size_t>(got);
    }
    close(file);
    if (got < 0) return FileFault("read the result", result_);
    text.resize(size);
    std::string json = AsJson(std::move(text));
    if (json.size() <= kMaxCommandResult) return json;
    return Error(Code::kExhausted,
                 fmt::format("its result is longer than {} bytes", kMaxCommandResult));
}

}  // namespace ksana::exec
