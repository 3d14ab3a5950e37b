#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error.hpp"
#include "ksana/base/result.hpp"
#include "ksana/model/job.hpp"
#include "ksana/model/run.hpp"

namespace ksana::store_kit {

// What no store may be given, because not every one could keep it: text that is not UTF-8 or holds
// a NUL, and text without a bound. Adds a problem with its path.
void CheckText(std::string_view text, std::size_t most, const std::string& path,
               std::vector<Problem>& problems);

void CheckRun(const model::Run& run, const std::string& path, std::vector<Problem>& problems);
void CheckJob(const model::Job& job, const std::string& path, std::vector<Problem>& problems);

// Fails when there is any problem.
Result<void> Verdict(std::vector<Problem> problems);

// Fails when a batch is larger than store::kMaxBatch.
Result<void> CheckBatch(std::size_t size, const std::string& path);

}  // namespace ksana::store_kit
