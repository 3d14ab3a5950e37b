#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace ksana::testing {

// A database server for one test, which stops and restarts it. `script` is start_postgres.sh or
// start_mariadb.sh, `port_variable` the variable that tells it the port. The destructor ends the
// server and deletes its data. Owned by the test; one thread.
class PrivateServer {
  public:
    PrivateServer(std::string script, std::string port_variable);
    ~PrivateServer();
    PrivateServer(const PrivateServer&) = delete;
    PrivateServer& operator=(const PrivateServer&) = delete;

    const std::string& url() const { return url_; }
    std::string File(const std::string& name) const { return folder_.File(name); }

    // Ends the server as a crash would, and starts it on the same port.
    void Restart();
    // Ends it and leaves it so.
    void Halt();
    // SIGSTOP and SIGCONT for all processes of the server. `pid_file` is a name in its folder.
    void Freeze(const std::string& pid_file);
    void Thaw();

  private:
    std::string Run(const std::string& words) const;

    const std::string script_;
    const std::string port_variable_;
    test::TemporaryFolder folder_;
    std::string url_;
    std::vector<pid_t> frozen_;
};

}  // namespace ksana::testing
