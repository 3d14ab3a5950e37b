#include <fmt/core.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "ksana/base/time/clock.hpp"
#include "support/etcd_server.hpp"

// Takes a lock and then does what the lines of its standard input say, as a process that tests kill
// or stop: etcd_holder PORT KEY TOKEN SECONDS. Prints "held FENCE", then "ok" or the name of the
// error for each "renew" and "release".
int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const ksana::SystemClock clock;
    const auto port = static_cast<std::uint16_t>(std::stoul(argv[1]));
    auto driver = ksana::lock_etcd::OpenEtcdLocks(ksana::testing::EtcdOptions(port, clock));
    if (!driver) return 3;
    const ksana::lock::LockRequest request{.key = argv[2],
                                           .token = argv[3],
                                           .ttl = std::chrono::seconds(std::stoul(argv[4])),
                                           .stamp = {}};
    const auto answer = (*driver)->Try(request);
    if (!answer || !answer->grant) return 4;
    fmt::print("held {}\n", answer->grant->fence);
    (void)std::fflush(stdout);
    const auto name = [](const auto& result) {
        return result ? std::string_view("ok") : ksana::Info(result.error().code).name;
    };
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "renew") {
            fmt::print("{}\n", name((*driver)->Renew(request, answer->grant->fence)));
        } else {
            fmt::print("{}\n", name((*driver)->Release(request, answer->grant->fence)));
        }
        (void)std::fflush(stdout);
    }
    return 0;
}
