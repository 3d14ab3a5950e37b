#pragma once

#include <functional>
#include <memory>

#include "ksana/model/run.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// Somebody who waits for a run such as one that is about to be stored: it is stored as started by
// him, one commit instead of two. He waits for nothing else until he is given the run; whoever is
// destroyed without one waits again, as he did before.
class Taker {
  public:
    Taker() = default;
    Taker(const Taker&) = delete;
    Taker& operator=(const Taker&) = delete;
    virtual ~Taker() = default;

    virtual store::StartAs start() const = 0;
    // The run as it was stored, started by him. Once.
    virtual void Give(model::Run run) = 0;
};

// Null: nobody waits for such a run, or something that has waited for longer comes first.
using FindTaker = std::function<std::unique_ptr<Taker>(const model::Run& run)>;

}  // namespace ksana::engine
