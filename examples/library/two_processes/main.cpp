#include <unistd.h>

#include <iostream>

#include <ksana/ksana.hpp>

using namespace std::chrono_literals;

// Fires every second (the standard dialect has a field for seconds). All processes compute the same
// fires, and for each of them one process gets the lock "ksana:lock:job:count-seconds".
class CountSeconds final : public ksana::PlainJob {
    void Run(ksana::JobContext& context) override {
        std::cout << "process " << getpid() << " ran the fire of " << context.fire_time()
                  << std::endl;
    }
};
// If a process dies during a run, the others can run the job again after lock_ttl.
KSANA_JOB(CountSeconds, .id = "count-seconds", .cron = "* * * * * *", .lock_ttl = 2s,
          .dialect = ksana::CronDialect::kStandard);

int main(int argc, char** argv) { return ksana::RunJobs(argc, argv); }
