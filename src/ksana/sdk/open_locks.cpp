#include "ksana/sdk/open_locks.hpp"

#include "ksana/lock/memory_locks.hpp"

namespace ksana::sdk {

Result<std::unique_ptr<lock::LockDriver>> OpenLocks(const std::string& url, Clock& clock, Random&) {
    if (url == "memory:") return std::unique_ptr<lock::LockDriver>(new lock::MemoryLocks(clock));
    return Error(Code::kUnimplemented, "no such lock");
}

}  // namespace ksana::sdk
