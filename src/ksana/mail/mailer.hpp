#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::mail {

// A plain mail.
struct Mail {
    std::string id;               // the same however often it is sent: its Message-ID
    std::vector<std::string> to;  // addresses
    std::string subject;          // UTF-8, as the text
    std::string text;
    TimePoint at{};
    std::string attempt = {};  // whom Cancel names; another one whenever it is sent again
    // The attempt is over then, whoever waits in front of it: it is sent before, or not at all.
    SteadyPoint deadline = SteadyPoint::max();
};

struct MailOutcome {
    enum class Kind : std::uint8_t {
        kSent,
        kLater,      // it may get through another time
        kRefused,    // it will not
        kTakenBack,  // somebody did so before it was sent
    };
    Kind kind = Kind::kSent;
    std::string error;  // of one that was sent: whom the server did not take it for
};

// Sends mails. Thread-safe.
class Mailer {
  public:
    using Done = std::function<void(MailOutcome)>;

    virtual ~Mailer() = default;
    // Returns at once. `done` is called exactly once, on any thread, also before Send returns.
    virtual void Send(Mail mail, Done done) = 0;
    // Takes back one that still waits; its `done` is called before this returns. One that is on its
    // way goes on: nobody could tell whether it got there.
    virtual void Cancel(std::string_view attempt) = 0;
};

}  // namespace ksana::mail
