#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ksana/model/document.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/model/run/run.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Checks the limit of one group as its targets see it: the calls of all nodes together (I15). A
// node that lost contact with the store for longer than its share lasts may have calls in flight
// that nobody counts any more; it must not start any. Rates hold for every start. Runs on the
// world's thread; reports violations to the world.
class LimitChecks {
  public:
    explicit LimitChecks(World& world) : world_(world) {}

    // `shared`: several nodes divide the limit.
    void Limit(std::string group, model::Limit limit, bool shared);

    // A node begins a call, or one of its calls has ended or died with it.
    void Begin(const std::string& group, const model::Run& run);
    // The same for a task that a node claims for others and publishes later. If it has lost contact
    // at the claim or since, the task does not count.
    void ClaimTask(const std::string& owner, const model::Run& run);
    void BeginTask(const std::string& type, const model::Run& run);
    void End(const std::string& exec_id) { calls_.erase(exec_id); }

    // A node gives its attempts back at the end of a shutdown. They do not count any more, although
    // their calls may go on until its process has ended.
    void Abandon(const std::string& owner);
    // A document was committed: how long a node holds its shares, as it said itself.
    void OnDocument(const model::Document& document);

  private:
    struct Call {
        std::string owner;
        bool counts = true;
        bool begun = true;
    };

    bool InContact(const std::string& owner) const;
    void Count(const std::string& group, const std::string& owner, const model::Run& run);
    void CheckRate(const model::Run& run);
    void Fail(std::string what, const model::Run& run);

    World& world_;
    std::string group_;
    std::optional<model::Limit> limit_;
    bool shared_ = false;
    std::map<std::string, Call> calls_;            // in flight, by exec_id
    std::map<std::string, TimePoint> held_until_;  // by owner
    std::deque<TimePoint> starts_;                 // of the last period
};

}  // namespace ksana::sim
