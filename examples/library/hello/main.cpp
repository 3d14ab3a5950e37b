#include <iostream>

#include <ksana/ksana.hpp>

using namespace std::chrono_literals;

class Hello final : public ksana::PlainJob {
    void Run(ksana::JobContext& context) override {
        std::cout << context.job_id() << " at " << context.fire_time() << std::endl;
    }
};
// kAllNodes: every process that runs this program says hello. The default is kSingleNode: one of
// all processes runs each fire. That needs a place for locks: see two_processes.
KSANA_JOB(Hello, .id = "hello", .fixed_rate = 1s, .mode = ksana::ExecutionMode::kAllNodes);

int main(int argc, char** argv) { return ksana::RunJobs(argc, argv); }
