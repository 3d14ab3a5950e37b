#pragma once

#include <set>
#include <string>
#include <utility>

#include "ksana/base/process/mutex.hpp"
#include "ksana/model/job/action.hpp"

namespace ksana::server {

// Bounds the values of the label `type`, which clients choose: the first kMostTypes pairs of kind
// and type keep their names, all later ones are "other". A restart begins anew. Thread-safe.
class TypeLabels {
  public:
    static constexpr std::size_t kMostTypes = 200;
    // For MetricSpec::max_label_sets: never reached, as the types are bounded here.
    static constexpr std::size_t kMostSets = 50'000;

    // Returns the value of the label.
    std::string Of(model::ActionKind kind, const std::string& type);

  private:
    Mutex mutex_;
    std::set<std::pair<model::ActionKind, std::string>> known_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::server
