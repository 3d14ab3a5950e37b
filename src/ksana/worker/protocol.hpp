#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/engine/dispatch/attempt_news.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/decide.hpp"

// The bodies and answers of the worker protocol (docs/workers.md, docs/agents.md).

namespace ksana::worker {

// Who a worker is. `incarnation` is drawn at each start.
struct Identity {
    std::string name;
    Uuid incarnation;
    std::string host;
    std::string version;
    std::vector<model::ActionKind> kinds;
    std::vector<std::string> types;  // of queue and handler runs; empty: any
    std::int32_t slots = 1;
    TextMap labels;
};

// "/api/v1/workers/NAME" and what follows.
std::string PathOf(const Identity& who, std::string_view verb = "");

std::string RegistrationBody(const Identity& who);
std::string HeartbeatBody(const Identity& who, std::size_t busy, bool draining);

struct ClaimWish {
    std::size_t max = 1;
    Duration lease{};
    Duration wait{};
};
std::string ClaimBody(const Identity& who, const ClaimWish& wish);
// `reports` are made by the two functions below.
std::string ExchangeBody(const Identity& who, std::span<const std::string> reports,
                         const std::optional<ClaimWish>& claim);

// The reports that renew the lease of an attempt and tell its news: several, if there are more
// lines of log than a report may have. Texts are cut and cleaned to what the server takes.
std::vector<std::string> BeatReports(const model::Run& run, Duration lease,
                                     const engine::AttemptNews& news);
// The reports that tell how an attempt ended, the last of which ends it: one of the kinds that
// executors report, kShutdown (given back) or kSnooze. `log`: lines that are not told yet.
std::vector<std::string> EndReports(const model::Run& run, const model::Event& event,
                                    Duration lease, std::string log);

// A run that the server has given to this worker.
struct Claimed {
    engine::AttemptPointer attempt;  // with times on this machine's clock
    Duration lease{};                // from the answer on
    Duration deadline{};             // from the answer on
};
// Reads the member "runs". An item that cannot be read (a newer server's) is left out and logged:
// its lease ends by itself.
std::vector<Claimed> ClaimedFrom(const codec::Json& answer, TimePoint now);

struct Verdict {
    bool ok = false;
    bool cancel = false;  // a user wants the run to stop
    bool drain = false;   // this server is about to stop
    std::string reason;
};
std::vector<Verdict> VerdictsFrom(const codec::Json& answer);

struct BeatAnswer {
    std::optional<Duration> heartbeat_in;
    bool drain = false;  // a person wants this worker to stop
};
BeatAnswer BeatAnswerFrom(const codec::Json& answer);

}  // namespace ksana::worker
