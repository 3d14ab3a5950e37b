#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_kit {

// Where something stands in what a caller gave, as a JSON pointer: "/runs/3/tenant". Put together
// only when somebody has to be told. Its texts outlive it.
class Path {
  public:
    explicit Path(std::string_view base) : base_(base) {}
    Path(std::string_view base, std::size_t index) : base_(base), index_(index) {}
    friend Path operator/(Path path, std::string_view field) {
        path.field_ = field;
        return path;
    }
    std::string Text() const;

  private:
    std::string_view base_;
    std::optional<std::size_t> index_;
    std::string_view field_;
};

// What no store may be given, because not every one could keep it: text that is not UTF-8 or holds
// a NUL, and text without a bound. Adds a problem with its path.
void CheckText(std::string_view text, std::size_t most, const Path& path,
               std::vector<Problem>& problems);

void CheckRun(const model::Run& run, const Path& path, std::vector<Problem>& problems);
void CheckJob(const model::Job& job, const Path& path, std::vector<Problem>& problems);

// Fails when there is any problem.
Result<void> Verdict(std::vector<Problem> problems);

// Fails when a batch is larger than store::kMaxBatch.
Result<void> CheckBatch(std::size_t size, const std::string& path);

}  // namespace ksana::store_kit
