// library_cases.py compiles this file twice, so that two files declare the same id, and links both:
// the linker must refuse it.

#include "ksana/ksana.hpp"

namespace {

class Job final : public ksana::PlainJob {
    void Run(ksana::JobContext& /*context*/) override {}
};

}  // namespace
KSANA_JOB(Job, .id = "the-same", .cron = "0 3 * * *", .mode = ksana::ExecutionMode::kAllNodes);

#if defined(WITH_MAIN)
int main(int argc, char** argv) { return ksana::RunJobs(argc, argv); }
#endif
