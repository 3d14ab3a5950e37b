#pragma once

#include <cstdint>

namespace ksana::store {

// What a commit may have changed, in broad terms: enough to decide whom to wake.
enum class Topic : std::uint8_t {
    kJobs,       // a job was created, changed or deleted, or has a new next fire
    kReady,      // a run that nodes execute can be claimed, or has a new ready_at
    kFinished,   // a run reached a final state
    kCancel,     // the cancellation of a running run was requested
    kDocuments,  // types, locks, settings
    kEvents,     // audit events were added
    kTasks,      // like kReady, for a run that waits for an agent (ActionKind::kQueue)
    kShares,     // a node wants or gives up a part of a limit (model/job/limit_share.hpp)
    kWorkers,    // a worker came, left, is to drain or was taken for dead; not its heartbeats
};

inline constexpr auto kLastTopic = static_cast<std::uint8_t>(Topic::kWorkers);

// A set of topics.
class Topics {
  public:
    constexpr Topics() = default;
    constexpr Topics(Topic topic) : bits_(1U << static_cast<unsigned>(topic)) {}

    static constexpr Topics All() { return FromBits((2U << unsigned{kLastTopic}) - 1); }
    static constexpr Topics FromBits(std::uint32_t bits) {
        Topics topics;
        topics.bits_ = bits;
        return topics;
    }

    constexpr std::uint32_t bits() const { return bits_; }
    constexpr bool Empty() const { return bits_ == 0; }
    constexpr bool Has(Topic topic) const { return !(*this & topic).Empty(); }
    constexpr Topics operator|(Topics other) const { return FromBits(bits_ | other.bits_); }
    constexpr Topics operator&(Topics other) const { return FromBits(bits_ & other.bits_); }
    constexpr Topics& operator|=(Topics other) { return *this = *this | other; }
    friend constexpr bool operator==(Topics, Topics) = default;

  private:
    std::uint32_t bits_ = 0;
};

constexpr Topics operator|(Topic a, Topic b) { return Topics(a) | Topics(b); }

}  // namespace ksana::store
