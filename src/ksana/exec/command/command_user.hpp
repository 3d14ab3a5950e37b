#pragma once

#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/exec/command/guardian_wire.hpp"

namespace ksana::exec {

// The user as whom a command runs.
struct CommandUser {
    std::optional<SpawnSpec::User> switch_to;  // none: that of this process
    // From the user database; empty for a number that it does not have.
    std::string name;
    std::string home;
    std::string shell;
};

// Finds a user and a group by name or number, with the user's further groups. Empty: that of this
// process. kInvalidArgument: there is none. kPermissionDenied: another one than that of this
// process, which is not root.
Result<CommandUser> FindUser(const std::string& user, const std::string& group);

}  // namespace ksana::exec
