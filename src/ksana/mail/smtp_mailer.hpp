#pragma once

#include <deque>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/mail/mailer.hpp"

namespace ksana::mail {

struct SmtpOptions {
    std::string url;       // smtp://HOST[:PORT] or smtps://HOST[:PORT]
    std::string user;      // empty: without
    std::string password;  // likewise
    std::string from;      // the sender's address
    // Over smtp:// the connection is made safe by STARTTLS where the server offers that; with a
    // password it must. Never: not even then, for a relay on the same machine.
    bool starttls = true;
    std::string ca_file;  // PEM, instead of the system's; empty: the system's
};

// Hands mails to one SMTP server, one after the other, on a thread of its own; libcurl speaks for
// it. At most kMaxWaiting wait; more are told to come later, and so is one whose time was over
// while it waited: its sender has given it up by then, and would send it a second time.
class SmtpMailer final : public Mailer, public Service {
  public:
    static constexpr std::size_t kMaxWaiting = 1'000;

    // The clock must outlive it.
    SmtpMailer(SmtpOptions options, const Clock& clock);
    ~SmtpMailer() override;

    std::string_view name() const override { return "smtp"; }
    Result<void> Start() override { return thread_.Start(); }
    // Those that wait, and the one under way, are told to come later.
    void Stop() override;

    void Send(Mail mail, Done done) override;
    void Cancel(std::string_view attempt) override;

  private:
    using Letter = std::pair<Mail, Done>;

    void Run(const std::stop_token& stop);
    MailOutcome Deliver(const Mail& mail, const std::stop_token& stop) const;
    void TurnAway();

    const SmtpOptions options_;
    const Clock& clock_;
    Mutex mutex_;
    StopCondVar changed_;
    std::deque<Letter> letters_ KSANA_GUARDED_BY(mutex_);
    LoopThread thread_;
};

}  // namespace ksana::mail
