#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::mail {

// A plain-text mail.
struct Mail {
    std::string id;               // stays the same over repeated deliveries; becomes the Message-ID
    std::vector<std::string> to;  // addresses
    std::string subject;          // UTF-8, like the text
    std::string text;
    TimePoint at{};
    std::string attempt = {};  // the key for Cancel; differs for each delivery
    // When the attempt ends. A mail that waits longer than this is not sent at all.
    SteadyPoint deadline = SteadyPoint::max();
};

struct MailOutcome {
    enum class Kind : std::uint8_t {
        kSent,
        kLater,      // temporary failure: a retry may succeed
        kRefused,    // permanent failure
        kTakenBack,  // cancelled before it was sent
    };
    Kind kind = Kind::kSent;
    std::string error;  // for kSent: the recipients that the server refused; empty: none
};

// Sends mails. The server owns it; executors call it. Implementations must be thread-safe and
// report every failure through `done`.
class Mailer {
  public:
    using Done = std::function<void(MailOutcome)>;

    virtual ~Mailer() = default;
    // Queues the mail and returns at once. Calls `done` exactly once, on any thread, possibly
    // before Send returns.
    virtual void Send(Mail mail, Done done) = 0;
    // Cancels a mail that still waits; its `done` is called before Cancel returns. A mail that is
    // being sent continues, because its delivery could not be known.
    virtual void Cancel(std::string_view attempt) = 0;
};

}  // namespace ksana::mail
