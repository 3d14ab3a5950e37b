#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/log/log.hpp"
#include "ksana/testing.hpp"

namespace ksana::library {

// 2026-01-01T00:00:00Z, where the fake clock starts.
inline constexpr std::int64_t kStart = 1'767'225'600'000;

inline std::int64_t After(std::chrono::milliseconds time) { return kStart + time.count(); }

// Keeps the lines of the log while it lives.
class LogLines {
  public:
    LogLines() {
        SetLogSinkForTest([this](LogLevel, std::string_view line) {
            const MutexLock lock(mutex_);
            lines_.emplace_back(line);
        });
    }
    ~LogLines() { SetLogSinkForTest({}); }

    // The lines that contain all of the texts.
    std::vector<std::string> With(std::initializer_list<std::string_view> texts) const {
        const MutexLock lock(mutex_);
        std::vector<std::string> found;
        for (const std::string& line : lines_) {
            bool all = true;
            for (const std::string_view text : texts) {
                all = all && line.find(text) != std::string::npos;
            }
            if (all) found.push_back(line);
        }
        return found;
    }

  private:
    mutable Mutex mutex_;
    std::vector<std::string> lines_ KSANA_GUARDED_BY(mutex_);
};

// A test with the kit: no threads, and time stands still.
class LibraryTest : public ::testing::Test {
  protected:
    // Adds a job and expects that it is accepted.
    template <class Function>
    void Add(JobSpec spec, Function function) {
        const std::string id = spec.id;
        const auto added = test_.scheduler().Add(std::move(spec), std::move(function));
        ASSERT_TRUE(added) << id << ": " << added.error().Describe();
    }
    void Start() {
        const auto started = test_.Start();
        ASSERT_TRUE(started) << started.error().Describe();
    }
    JobStatus Status(std::string_view id) const {
        const auto status = test_.StatusOf(id);
        EXPECT_TRUE(status) << id;
        return status.value_or(JobStatus());
    }

    LogLines log_;
    Context context_;
    testing::TestScheduler test_{context_};
};

}  // namespace ksana::library
