#pragma once

#include <cstdint>
#include <string>

#include "ksana/store/fault_plan.hpp"

namespace ksana::sim {

// What happened in the worlds of one or more seeds.
struct ClusterTotals {
    std::int64_t nodes = 0;
    double hours = 0;  // simulated
    std::int64_t events = 0;
    std::int64_t steps = 0;  // of loops
    std::int64_t commits = 0;
    std::int64_t fires = 0;
    std::int64_t runs = 0;
    std::int64_t waits = 0;    // runs that waited for other jobs
    std::int64_t follows = 0;  // fires after other jobs
    std::int64_t attempts = 0;
    std::int64_t lost = 0;        // attempts that were taken from their owner
    std::int64_t released = 0;    // attempts that a shutdown gave back
    std::int64_t deferred = 0;    // attempts that a limit or a breaker held back
    std::int64_t fenced_out = 0;  // calls that reached the target after those of a later attempt
    std::int64_t crashes = 0;
    std::int64_t pauses = 0;
    std::int64_t shutdowns = 0;
    std::int64_t clock_jumps = 0;
    std::int64_t faults = 0;  // of the store
    std::int64_t tasks = 0;
    std::int64_t handed_on = 0;     // attempts that agents lost
    std::int64_t late_reports = 0;  // of agents
    std::int64_t held = 0;          // for a person
    std::int64_t callbacks = 0;
    std::int64_t callback_calls = 0;
    std::int64_t dead_letters = 0;
    std::int64_t agent_faults = 0;  // deaths and pauses

    std::int64_t published = 0;    // to the message broker
    std::int64_t republished = 0;  // as their messages were found lost
    std::int64_t troubles = 0;     // of the broker, its nodes and consumers

    void Add(const ClusterTotals& other);
    // Adds the faults of one connection.
    void Count(const store::FaultPlan& plan);
    std::string Describe() const;
};

}  // namespace ksana::sim
