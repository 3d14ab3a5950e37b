#include "apps/ksana/server/config_file.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ksana::app {

Result<std::string> ReadConfigFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        const Code code = errno == ENOENT ? Code::kNotFound : Code::kInvalidArgument;
        return Error(code, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace ksana::app
