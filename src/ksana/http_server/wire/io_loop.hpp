#pragma once

// Private to this module: includes Asio, like asio_transport.hpp.
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

// An I/O thread and the connections it serves. A connection never moves to another thread, so
// connections need no locks. One timer checks the deadlines of all of them. Owned by Network;
// started and ended once. Members run on the loop's thread, unless they say otherwise.
class IoLoop final : public ConnectionHost {
  public:
    // `context` and `admission` must outlive the loop.
    IoLoop(std::string name, const ServeContext& context, Admission& admission);
    ~IoLoop() override;
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    Result<void> Start();
    // Closes idle connections now and all others at `deadline`, asynchronously. The thread ends
    // with the last connection. Any thread may call.
    void BeginDrain(SteadyPoint deadline);
    // Blocks until the thread has ended. BeginDrain must have been called.
    void Join();

    // Takes over an accepted connection that was counted at the admission under `place`. `tls` is
    // null for a plain connection. Any thread may call.
    void Adopt(Socket socket, ConnectionPlace place, std::string peer,
               boost::asio::ssl::context* tls);
    // Closes the connection that has been idle for longest, of this address (empty: of any), or the
    // oldest reserved one. Returns false if there is none.
    bool CloseIdle(const std::string& address);
    bool CloseReserved();

    boost::asio::io_context& io() { return io_; }

    const std::shared_ptr<Mailbox>& mailbox() const override { return mailbox_; }
    std::string_view date() override;
    bool draining() const override { return draining_; }
    void Forget(Connection& connection) override;

  private:
    struct Entry {
        std::shared_ptr<Connection> connection;
        ConnectionPlace place;
        std::uint64_t number = 0;  // in the order of arrival
    };

    void Open(Socket socket, ConnectionPlace place, std::string peer,
              boost::asio::ssl::context* tls);
    void RunMail();
    // Restarts the sweep timer.
    void Run();
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
    std::uint64_t opened_ = 0;
    bool draining_ = false;
    SteadyPoint drain_deadline_;
    std::chrono::sys_seconds date_second_{};
    std::string date_;
    LoopThread thread_;
};

}  // namespace ksana::http_server
