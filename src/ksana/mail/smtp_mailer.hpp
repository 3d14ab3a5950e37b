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
    std::string user;      // empty: no authentication
    std::string password;  // empty: none
    std::string from;      // the address of the sender
    // Whether smtp:// connections use STARTTLS: if the server offers it, and mandatory with a
    // password. False: never, for a relay on the same machine.
    bool starttls = true;
    std::string ca_file;  // PEM file instead of the system's certificates; empty: the system's
};

// Sends mails to one SMTP server through libcurl, one after the other, on its own thread. At most
// kMaxWaiting mails wait; further ones fail with kLater. So does a mail whose deadline passed while
// it waited: its sender has given up and would send it a second time. Owned by the server.
// Thread-safe.
class SmtpMailer final : public Mailer, public Service {
  public:
    static constexpr std::size_t kMaxWaiting = 1'000;

    // `clock` must outlive the mailer.
    SmtpMailer(SmtpOptions options, const Clock& clock);
    ~SmtpMailer() override;

    std::string_view name() const override { return "smtp"; }
    Result<void> Start() override { return thread_.Start(); }
    // Stops the thread. The waiting mails and the one being sent fail with kLater.
    void Stop() override;

    void Send(Mail mail, Done done) override;
    void Cancel(std::string_view attempt) override;

  private:
    using QueuedMail = std::pair<Mail, Done>;

    void Run(const std::stop_token& stop);
    MailOutcome Deliver(const Mail& mail, const std::stop_token& stop) const;
    void TurnAway();

    const SmtpOptions options_;
    const Clock& clock_;
    Mutex mutex_;
    StopCondVar changed_;
    std::deque<QueuedMail> mails_ KSANA_GUARDED_BY(mutex_);
    LoopThread thread_;
};

}  // namespace ksana::mail
