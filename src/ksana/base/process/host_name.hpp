#pragma once

#include <string>

namespace ksana {

// Returns the name of this machine; "localhost" if it has none.
std::string HostName();

}  // namespace ksana
