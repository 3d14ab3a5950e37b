#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ksana/base/result.hpp"
#include "ksana/model/job.hpp"

namespace ksana::store_sqlite {

// Definitions that were parsed before, so that planning does not read JSON. An entry is used only
// while the stored text is the very text it was made of, so nothing has to be taken out of it when
// a job changes, or a transaction is rolled back. Shared by all connections; thread-safe.
class JobCache {
  public:
    // The definition that `text` holds; bookkeeping is not set.
    Result<model::Job> Parse(std::string_view id, std::string_view text);

  private:
    struct Entry {
        std::string text;
        model::Job job;
    };
    using Entries = std::unordered_map<std::string, std::shared_ptr<const Entry>>;

    std::shared_ptr<const Entry> Find(const std::string& id, std::string_view text);

    std::mutex mutex_;
    // Guarded by mutex_. When `recent_` is full it becomes `older_`, and what that held is gone.
    Entries recent_;
    Entries older_;
};

}  // namespace ksana::store_sqlite
