#pragma once

#include <sys/types.h>

#include "ksana/exec/command/guardian_wire.hpp"

namespace ksana::exec {

// What a failed child wrote before it ended. Shared between the guardian and its children.
struct ChildReport {
    SpawnStage stage = SpawnStage::kNone;
    int error = 0;
};

struct SpawnPlaces {
    int input = -1;                 // becomes the standard input
    int output = -1;                // becomes standard output and standard error
    int cgroup = -1;                // folder of the cgroup that the child starts in; -1: none
    ChildReport* report = nullptr;  // in memory that is shared with children
};

// Starts the program of `spec` in a session of its own, with nothing of this process but what
// `spec` and `places` say: no descriptors, no signal mask, no environment. Returns its pid once the
// program runs, or -1 after it failed; then `places.report` says why and no child is left. The
// child is killed when the calling thread ends. For the guardian, which has one thread.
pid_t SpawnChild(const SpawnSpec& spec, const SpawnPlaces& places);

}  // namespace ksana::exec
