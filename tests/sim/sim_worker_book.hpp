#pragma once

#include <map>
#include <string>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::sim {

// What registered workers have said, so that the checks know whom a run may be taken from.
class WorkerBook {
  public:
    // It is about to register: its former incarnation may lose everything from now on.
    void Registers(const std::string& name, const Uuid& incarnation) {
        current_[name] = model::OwnerName(name, incarnation);
    }
    // The store has taken a sign of life, not before `at`.
    void Heard(const std::string& owner, TimePoint at) { heard_[owner] = at; }

    // Whether the run of this owner may be taken though its lease holds.
    bool MayLose(const std::string& owner, TimePoint now) const {
        const auto heard = heard_.find(owner);
        if (heard == heard_.end()) return false;
        const auto current = current_.find(owner.substr(0, owner.find('/')));
        if (current == current_.end() || current->second != owner) return true;
        return now - heard->second > model::kDefaultWorkerSilence;
    }

  private:
    std::map<std::string, std::string> current_;  // owner by name
    std::map<std::string, TimePoint> heard_;      // by owner
};

}  // namespace ksana::sim
