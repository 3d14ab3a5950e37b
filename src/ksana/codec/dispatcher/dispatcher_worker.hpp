#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/worker.hpp"

// Workers in the terms of document D (D-05). The document's worker has an id and no incarnation;
// each registration without one is a new start.

namespace ksana::codec {

// A worker as it registers itself.
struct DispatcherWorker {
    model::Worker worker;  // the incarnation is nil if the text has none
    std::vector<Problem> problems;
    std::size_t untold = 0;  // problems that `problems` leaves out
};
// Fails only if the text is not JSON; other faults are in the result.
Result<DispatcherWorker> DispatcherWorkerFromJson(std::string_view text);

// Renames the members that faults of a worker point to into those of the document.
std::vector<Problem> InWorkerWords(std::vector<Problem> problems);

struct DispatcherHeartbeat {
    std::optional<Uuid> incarnation;
    // The load: how many executions it has, or which share of its slots is in use.
    std::optional<std::int32_t> busy;
    std::optional<double> share;

    // Returns how many slots of the worker are in use; what is known of it if there is no load.
    std::int32_t BusyOf(const model::Worker& worker) const;
};
Result<DispatcherHeartbeat> DispatcherHeartbeatFromJson(std::string_view text);

// Returns the document's word: ALIVE, DRAINING, DOWN or GONE.
std::string_view WorkerWord(model::WorkerState state);
std::span<const std::string_view> WorkerWords();
std::optional<model::WorkerState> WorkerStateOf(std::string_view word);

// A worker as it is shown.
struct ShownWorker {
    const model::Worker& worker;
    model::WorkerState state;
    Duration heartbeat;  // how often it is to be heard of
};
std::string DispatcherWorkerToJson(const ShownWorker& shown);
// Adds what the worker works on.
std::string DispatcherWorkerToJson(const ShownWorker& shown, std::span<const model::Run> runs);

}  // namespace ksana::codec
