#pragma once

#include <memory>

#include "insight/explain_world.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::insight {

// An ExplainWorld over a memory store.
class MemoryWorld : public ::testing::Test {
  protected:
    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    ExplainWorld world_{*store_, At("2026-03-02T00:00:00Z")};
};

}  // namespace ksana::insight
