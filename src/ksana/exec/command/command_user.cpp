#include "ksana/exec/command/command_user.hpp"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <vector>

namespace ksana::exec {
namespace {

constexpr std::size_t kEntryRoom = 64 << 10;
constexpr int kMaxGroups = 65'536;

std::optional<std::uint32_t> NumberOf(const std::string& text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

struct Entry {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    CommandUser user;
};

std::optional<Entry> UserEntry(const std::string& text) {
    std::string room(kEntryRoom, '\0');
    passwd entry{};
    passwd* found = nullptr;
    getpwnam_r(text.c_str(), &entry, room.data(), room.size(), &found);
    const auto number = NumberOf(text);
    if (found == nullptr && number) {
        getpwuid_r(*number, &entry, room.data(), room.size(), &found);
    }
    if (found != nullptr) {
        return Entry{.uid = entry.pw_uid,
                     .gid = entry.pw_gid,
                     .user = {.switch_to = {},
                              .name = entry.pw_name,
                              .home = entry.pw_dir,
                              .shell = entry.pw_shell}};
    }
    if (number) return Entry{.uid = *number, .gid = *number, .user = {}};
    return std::nullopt;
}

std::optional<std::uint32_t> GroupId(const std::string& text) {
    std::string room(kEntryRoom, '\0');
    group entry{};
    group* found = nullptr;
    getgrnam_r(text.c_str(), &entry, room.data(), room.size(), &found);
    if (found != nullptr) return entry.gr_gid;
    return NumberOf(text);
}

std::vector<std::uint32_t> GroupsOf(const std::string& name, std::uint32_t gid) {
    if (name.empty()) return {gid};
    int count = 64;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    if (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0 && count <= kMaxGroups) {
        groups.resize(static_cast<std::size_t>(count));
        if (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0) return {gid};
    }
    groups.resize(static_cast<std::size_t>(count));
    return {groups.begin(), groups.end()};
}

}  // namespace

Result<CommandUser> FindUser(const std::string& user, const std::string& group) {
    if (user.empty() && group.empty()) return CommandUser{};
    Entry entry{.uid = geteuid(), .gid = getegid(), .user = {}};
    if (!user.empty()) {
        auto found = UserEntry(user);
        if (!found) {
            return Error(Code::kInvalidArgument, fmt::format("there is no user \"{}\"", user));
        }
        entry = *std::move(found);
    }
    if (!group.empty()) {
        const auto found = GroupId(group);
        if (!found) {
            return Error(Code::kInvalidArgument, fmt::format("there is no group \"{}\"", group));
        }
        entry.gid = *found;
    }
    const bool same = entry.uid == geteuid() && entry.gid == getegid();
    if (same) return entry.user;
    if (geteuid() != 0) {
        return Error(Code::kPermissionDenied,
                     fmt::format("only root can run a command as another user or group ({}); this "
                                 "process is not root",
                                 user.empty() ? group : user));
    }
    entry.user.switch_to = SpawnSpec::User{
        .uid = entry.uid, .gid = entry.gid, .groups = GroupsOf(entry.user.name, entry.gid)};
    return entry.user;
}

}  // namespace ksana::exec
