#include "ksana/ksana.hpp"

namespace {

class Job final : public ksana::PlainJob {
    void Run(ksana::JobContext& /*context*/) override {}
};

}  // namespace
KSANA_JOB(Job, .id = "file-job", .cron = "0 3 * * *", .mode = ksana::ExecutionMode::kAllNodes);
