#include "ksana/telemetry/process_metrics.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ksana::telemetry {
namespace {

double ValueOf(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name << " in\n" << text;
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(ProcessMetrics, TellAboutThisProcess) {
    Registry registry;
    const ProcessMetrics metrics(registry);
    const std::string before = registry.Scrape();
    EXPECT_GE(ValueOf(before, "process_cpu_seconds_total"), 0);
    EXPECT_GT(ValueOf(before, "process_resident_memory_bytes"), 100'000);
    EXPECT_GT(ValueOf(before, "process_start_time_seconds"), 1'500'000'000);
    EXPECT_EQ(ValueOf(registry.Scrape(), "process_start_time_seconds"),
              ValueOf(before, "process_start_time_seconds"));
    const std::ifstream open("/proc/self/status");
    EXPECT_EQ(ValueOf(registry.Scrape(), "process_open_fds"),
              ValueOf(before, "process_open_fds") + 1);
}

class ProcFolder : public testing::Test {
  protected:
    ProcFolder() : path_(testing::TempDir() + "ksana_proc_" + std::to_string(::getpid())) {
        std::filesystem::create_directories(path_ + "/self");
    }
    ~ProcFolder() override { std::filesystem::remove_all(path_); }

    void Put(const std::string& name, const std::string& text) const {
        std::ofstream(path_ + name) << text;
    }

    const std::string path_;
};

TEST_F(ProcFolder, FieldsAreTakenFromTheirPlaces) {
    Put("/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n");
    // The program's name contains a ')', which could be mistaken for its end.
    Put("/self/stat",
        "7 (a) b (c) S 4 5 6 7 8 9 10 11 12 13 300 200 16 17 18 19 20 21 1000 23 50 25 26\n");
    Registry registry;
    const ProcessMetrics metrics(registry, path_);
    const std::string text = registry.Scrape();
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    EXPECT_DOUBLE_EQ(ValueOf(text, "process_cpu_seconds_total"), 500 / ticks);
    EXPECT_DOUBLE_EQ(ValueOf(text, "process_start_time_seconds"), 1700000000 + 1000 / ticks);
    EXPECT_DOUBLE_EQ(ValueOf(text, "process_resident_memory_bytes"),
                     50.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

TEST_F(ProcFolder, WhatCannotBeReadIsLeftOut) {
    Put("/self/stat", "7 (a) S 4 5\n");
    Registry registry;
    const ProcessMetrics metrics(registry, path_);
    const std::string text = registry.Scrape();
    EXPECT_EQ(text.find("\nprocess_"), std::string::npos) << text;
    EXPECT_EQ(text.find("process_start_time_seconds"), std::string::npos);
}

}  // namespace
}  // namespace ksana::telemetry
