#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

// A secret file is a file that others can neither read nor change, as systemd makes its
// credentials, or a pipe. Anything else is refused with kInvalidArgument: a device may never end.
Result<void> CheckSecretFile(const std::string& path);

// Returns the first line of a secret file, the token that API callers must present. Fails with
// kInvalidArgument unless it has 16 to 512 printable characters without blanks.
Result<std::string> ReadTokenFile(const std::string& path);

// Returns the first line of a secret file, a password. Fails with kInvalidArgument if the file
// cannot be read or the line is empty.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace ksana::server
