#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::codec {

// Reads what a worker says when it registers. The bounds of the values are model::ValidateWorker's.
Result<model::Worker> WorkerFromView(std::string_view text);

struct WorkerBeat {
    Uuid incarnation;
    std::int32_t busy = 0;
    bool draining = false;
};
Result<WorkerBeat> WorkerBeatFromJson(std::string_view text);
// Answers a heartbeat: the state, when the next one is due, and what the worker is to do.
std::string WorkerBeatToJson(model::WorkerState state, Duration next, bool drain);

// Returns a worker as /api/v1 shows it; with `runs` also what it works on.
std::string WorkerViewToJson(const model::Worker& worker, model::WorkerState state);
std::string WorkerViewToJson(const model::Worker& worker, model::WorkerState state,
                             std::span<const model::Run> runs);

// Puts the number of a shard and the number of all into the payload of one run of a broadcast: as
// members "shard" and "shards" of the object that it is. Any other payload becomes the member
// "payload" of a new object.
std::string ShardPayload(const std::string& payload, std::size_t shard, std::size_t shards);

extern const NamedSchema kWorkerRegistrationSchema;
extern const NamedSchema kWorkerBeatSchema;
extern const NamedSchema kWorkerBeatAnswerSchema;
extern const NamedSchema kWorkerSchema;
extern const NamedSchema kWorkerWithRunsSchema;

}  // namespace ksana::codec
