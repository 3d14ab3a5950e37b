#include <cstdio>
#include <string>

#include "ksana/worker.hpp"

using namespace std::chrono_literals;

int main() {
    // KSANA_SERVER names the server, else http://127.0.0.1:7100.
    ksana::Worker worker({.name = "resizer", .slots = 8});

    // The input is task.payload(), JSON as it was submitted. The result is JSON, too.
    auto added = worker.Handle("resize", [](ksana::TaskContext& task) {
        for (int percent = 0; percent < 100; percent += 25) {
            task.Progress(percent, "resizing");
            if (!task.Sleep(10ms)) task.Check();  // cancelled, timed out, or the worker stops
        }
        task.Log("resized");
        return R"({"resized": )" + task.payload() + "}";
    });

    if (added) added = worker.Run();  // until SIGTERM or SIGINT
    if (!added) std::fprintf(stderr, "%s\n", added.error().Describe().c_str());
    return added ? 0 : 1;
}
