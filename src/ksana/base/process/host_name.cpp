#include "ksana/base/process/host_name.hpp"

#include <array>

#include <unistd.h>

namespace ksana {

std::string HostName() {
    std::array<char, 256> name{};
    // The last byte stays 0: a longer name may come back without its end.
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

}  // namespace ksana
