#pragma once

// Private to this module: knows Asio, as asio_transport.hpp does.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <unordered_map>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/http_server/routing/admission.hpp"
#include "ksana/http_server/wire/asio_transport.hpp"
#include "ksana/http_server/wire/connection.hpp"

namespace ksana::http_server {

// An I/O thread and the connections it serves; none ever moves to another thread, so they need no
// locks. One timer sweeps over all of them. Used for one Start and one end.
class IoLoop final : public ConnectionHost {
  public:
    // All outlive it.
    IoLoop(std::string name, const ServeContext& context, Admission& admission);
    ~IoLoop() override;
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    Result<void> Start();
    // Any thread. Idle connections are closed now, all others at the deadline; the thread ends with
    // the last of them.
    void BeginDrain(SteadyPoint deadline);
    // Returns when the thread has ended; BeginDrain must have been called.
    void Join();

    // Any thread. The connection has entered at the admission under `address`; `tls` is null for a
    // plain one.
    void Adopt(Socket socket, std::string address, std::string peer,
               boost::asio::ssl::context* tls);

    boost::asio::io_context& io() { return io_; }

    const std::shared_ptr<Mailbox>& mailbox() const override { return mailbox_; }
    std::string_view date() override;
    bool draining() const override { return draining_; }
    void Forget(Connection& connection) override;

  private:
    struct Entry {
        std::shared_ptr<Connection> connection;
        std::string address;  // at the admission
    };

    void Open(Socket socket, std::string address, std::string peer, boost::asio::ssl::context* tls);
    void RunMail();
    // Replaces what was armed before.
    void ArmSweep();
    void Sweep();
    void CloseAll();
    void EndIfEmpty();

    const ServeContext& context_;
    Admission& admission_;
    Duration sweep_interval_;
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    boost::asio::steady_timer sweep_timer_;
    std::shared_ptr<Mailbox> mailbox_;
    std::unordered_map<Connection*, Entry> connections_;
    bool draining_ = false;
    SteadyPoint drain_deadline_;
    std::chrono::sys_seconds date_second_{};
    std::string date_;
    LoopThread thread_;
};

}  // namespace ksana::http_server
