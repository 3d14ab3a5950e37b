#include "ksana/schedule/zone/zone_database.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::schedule {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNameLength = 64;
constexpr std::size_t kMaxFileSize = 1 << 20;

// Entries of the folder that are not zones: variants with other rules for leap seconds, and the
// zone of the machine, which must never affect when a job fires.
bool IsReserved(std::string_view name) {
    return name.starts_with("right/") || name.starts_with("posix/") || name == "localtime" ||
           name == "posixrules";
}

// Names become paths: allows only the characters of IANA names, and so no path out of the folder.
bool IsWellFormed(std::string_view name) {
    if (name.empty() || name.size() > kMaxNameLength || name.front() == '/' || name.back() == '/') {
        return false;
    }
    const auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '+' || c == '/';
    };
    return std::all_of(name.begin(), name.end(), allowed) &&
           name.find("//") == std::string_view::npos;
}

// Owns a file descriptor, opened for reading.
class FileDescriptor {
  public:
    explicit FileDescriptor(const std::string& path)
        : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~FileDescriptor() {
        if (fd_ >= 0) close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

std::optional<std::string> ReadAll(int fd) {
    std::string bytes;
    std::array<char, 8192> buffer{};
    for (;;) {
        const ssize_t got = read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || bytes.size() > kMaxFileSize) return std::nullopt;
        if (got == 0) return bytes;
        bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

ZoneDatabase::ZoneDatabase(std::string folder) : folder_(std::move(folder)) {}

Result<std::shared_ptr<const Zone>> ZoneDatabase::Find(std::string_view name) {
    if (name == "UTC") return Zone::Utc();
    if (!IsWellFormed(name) || IsReserved(name)) return Unknown(name);
    const MutexLock lock(mutex_);
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second.zone;
    KSANA_TRY(Entry entry, Load(std::string(name)));
    return known_.emplace(name, std::move(entry)).first->second.zone;
}

Result<ZoneDatabase::Entry> ZoneDatabase::Load(const std::string& name) const {
    const std::string path = folder_ + "/" + name;
    const FileDescriptor file(path);
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return Unknown(name);
    }
    const std::optional<std::string> bytes = ReadAll(file.get());
    if (!bytes) return Error(Code::kUnavailable, fmt::format("cannot read {}", path));
    // Other files, such as zone.tab, are in the same folder.
    if (!bytes->starts_with("TZif")) return Unknown(name);
    auto zone = Zone::FromTzif(name, *bytes);
    if (!zone) return std::move(zone).error().WithContext(path);
    const Stamp stamp{status.st_ino, status.st_size,
                      status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
    return Entry{*std::move(zone), stamp};
}

Error ZoneDatabase::Unknown(std::string_view name) const {
    const std::vector<std::string> names = Names();
    if (names.empty()) {
        return {Code::kUnavailable,
                fmt::format("no time zones found in {}: is tzdata installed?", folder_)};
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto meant = Nearest(name, views);
    return {Code::kInvalidArgument,
            fmt::format("unknown time zone \"{}\"{}", Excerpt(name, kMaxNameLength),
                        meant ? fmt::format("; did you mean \"{}\"?", *meant)
                              : "; use an IANA name such as \"Europe/Paris\"")};
}

std::vector<std::string> ZoneDatabase::Names() const {
    std::vector<std::string> names;
    std::error_code error;
    fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied,
                                        error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        const std::string name = fs::path(it->path()).lexically_relative(folder_).string();
        if (IsReserved(name + "/")) it.disable_recursion_pending();
        if (!it->is_regular_file(error) || !IsWellFormed(name) || IsReserved(name)) continue;
        const FileDescriptor file(it->path().string());
        std::array<char, 4> magic{};
        if (file.get() >= 0 && read(file.get(), magic.data(), magic.size()) == 4 &&
            std::memcmp(magic.data(), "TZif", 4) == 0) {
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> ZoneDatabase::Refresh() {
    std::vector<std::string> changed;
    const MutexLock lock(mutex_);
    for (auto& [name, entry] : known_) {
        struct stat status {};
        if (stat((folder_ + "/" + name).c_str(), &status) != 0) continue;
        const Stamp stamp{status.st_ino, status.st_size,
                          status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
        if (stamp == entry.stamp) continue;
        auto fresh = Load(name);
        if (!fresh) continue;
        const bool differs = *fresh->zone != *entry.zone;
        entry = *std::move(fresh);
        if (differs) changed.push_back(name);
    }
    return changed;
}

std::string ZoneDatabase::Version() const {
    const FileDescriptor file(folder_ + "/tzdata.zi");
    std::array<char, 64> head{};
    if (file.get() < 0) return "";
    const ssize_t got = read(file.get(), head.data(), head.size());
    const std::string_view text(head.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    constexpr std::string_view kPrefix = "# version ";
    if (!text.starts_with(kPrefix)) return "";
    return std::string(text.substr(kPrefix.size(), text.find('\n') - kPrefix.size()));
}

}  // namespace ksana::schedule
