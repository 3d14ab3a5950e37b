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

// The place of a value in the caller's input, as a JSON pointer: "/runs/3/tenant". The text is
// composed only when there is a problem to report. The texts it refers to must outlive it.
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

// Adds a problem for text that some driver could not store: not UTF-8, with a NUL, or longer than
// `most` bytes.
void CheckText(std::string_view text, std::size_t most, const Path& path,
               std::vector<Problem>& problems);

void CheckRun(const model::Run& run, const Path& path, std::vector<Problem>& problems);
void CheckJob(const model::Job& job, const Path& path, std::vector<Problem>& problems);

// Returns kInvalidArgument with the problems, if there are any.
Result<void> Verdict(std::vector<Problem> problems);

// Returns kInvalidArgument if a batch is larger than store::kMaxBatch.
Result<void> CheckBatch(std::size_t size, const std::string& path);

}  // namespace ksana::store_kit
