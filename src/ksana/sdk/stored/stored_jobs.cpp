#include "ksana/sdk/stored/stored_jobs.hpp"

namespace ksana::sdk {

Result<std::unique_ptr<StoredJobs>> StoredJobs::Open(const Options&) {
    return Error(Code::kUnimplemented, "no store");
}

}  // namespace ksana::sdk
