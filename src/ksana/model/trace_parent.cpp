#include "ksana/model/trace_parent.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/hash.hpp"

namespace ksana::model {

std::string TraceIdOf(const Run& run) {
    std::string id = run.id.ToString();
    std::erase(id, '-');
    return id;
}

std::string TraceParentOf(const Run& run) {
    const std::uint64_t span = std::max<std::uint64_t>(1, HashText(run.status.exec_id));
    return fmt::format("00-{}-{:016x}-01", TraceIdOf(run), span);
}

}  // namespace ksana::model
