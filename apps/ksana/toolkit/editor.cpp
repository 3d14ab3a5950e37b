#include "apps/ksana/toolkit/editor.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/text_file.hpp"

namespace ksana::app {
namespace {

// Ignores SIGINT and SIGQUIT during its lifetime: Ctrl-C is meant for the editor. The destructor
// restores the old handlers.
class IgnoreInterrupts {
  public:
    IgnoreInterrupts() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGINT, &ignore, &interrupt_);
        sigaction(SIGQUIT, &ignore, &quit_);
    }
    ~IgnoreInterrupts() {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGQUIT, &quit_, nullptr);
    }
    IgnoreInterrupts(const IgnoreInterrupts&) = delete;
    IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

  private:
    struct sigaction interrupt_ {};
    struct sigaction quit_ {};
};

Result<int> RunShell(std::string script, std::string argument) {
    std::string shell = "/bin/sh";
    std::string flag = "-c";
    std::string name = "ksana";
    std::array<char*, 6> argv = {shell.data(), flag.data(),     script.data(),
                                 name.data(),  argument.data(), nullptr};
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t defaults{};
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const IgnoreInterrupts keyboard;
    pid_t child = 0;
    const int failed =
        ::posix_spawn(&child, shell.c_str(), nullptr, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        return Error(Code::kInternal, fmt::format("cannot run {}: {}", shell, strerror(failed)));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return Error(Code::kInternal, "the editor is lost");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<EditedFile> EditedFile::Make(std::string_view text, const Process& process) {
    std::string folder = VariableOf(process, "TMPDIR");
    if (folder.empty()) folder = "/tmp";
    constexpr std::string_view kEnding = ".json";
    std::string path = fmt::format("{}/ksana-edit-XXXXXX{}", folder, kEnding);
    const int fd = ::mkostemps(path.data(), static_cast<int>(kEnding.size()), 0);
    if (fd < 0) {
        return Error(Code::kInternal,
                     fmt::format("cannot make a file in {}: {}", folder, std::strerror(errno)));
    }
    EditedFile made(path);
    std::FILE* const file = ::fdopen(fd, "wb");
    const bool written = file != nullptr &&
                         std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0;
    if (file != nullptr) {
        (void)std::fclose(file);
    } else {
        ::close(fd);
    }
    if (!written) return Error(Code::kInternal, fmt::format("cannot write {}", path));
    return made;
}

EditedFile::EditedFile(EditedFile&& other) noexcept
    : path_(std::move(other.path_)), kept_(std::exchange(other.kept_, true)) {}

EditedFile::~EditedFile() {
    if (!kept_) ::unlink(path_.c_str());
}

Result<std::string> EditedFile::Edit(const Process& process) {
    std::string editor = VariableOf(process, "VISUAL");
    if (editor.empty()) editor = VariableOf(process, "EDITOR");
    if (editor.empty()) editor = "vi";
    KSANA_TRY(const int status, RunShell(editor + " \"$1\"", path_));
    if (status != 0) {
        return Error(
            Code::kInternal,
            fmt::format("the editor {} ended with {}: nothing was changed", editor, status));
    }
    return ReadTextFile(path_, process);
}

const std::string& EditedFile::Keep() {
    kept_ = true;
    return path_;
}

}  // namespace ksana::app
