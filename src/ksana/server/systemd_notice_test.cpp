#include "ksana/server/systemd_notice.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "support/temporary_folder.hpp"

namespace ksana::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A stand-in for systemd's socket. A name with a leading @ is abstract.
class NoticeSocket {
  public:
    explicit NoticeSocket(const std::string& name)
        : file_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::ranges::copy(name, std::begin(address.sun_path));
        if (name.front() == '@') address.sun_path[0] = '\0';
        const void* const generic = &address;
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(::bind(file_, static_cast<const sockaddr*>(generic), length), 0);
    }
    ~NoticeSocket() { ::close(file_); }
    NoticeSocket(const NoticeSocket&) = delete;
    NoticeSocket& operator=(const NoticeSocket&) = delete;

    // Returns the next datagram, or "" if there is none. A datagram arrives as soon as it is sent.
    std::string Read() const {
        std::array<char, 100> text{};
        const auto size = ::recv(file_, text.data(), text.size(), MSG_DONTWAIT);
        return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
    }

  private:
    const int file_;
};

TEST(SystemdNoticeTest, TellsHowItIs) {
    const test::TemporaryFolder folder;
    for (const std::string& name :
         {folder.File("notify"), "@ksana_test_" + folder.path().filename().string()}) {
        const NoticeSocket socket(name);
        const SystemdNotice notice(std::map<std::string, std::string>{{"NOTIFY_SOCKET", name}});
        EXPECT_EQ(socket.Read(), "") << "nothing by itself";
        notice.Ready();
        EXPECT_EQ(socket.Read(), "READY=1");
        notice.Alive();
        EXPECT_EQ(socket.Read(), "WATCHDOG=1");
        notice.Stopping();
        EXPECT_EQ(socket.Read(), "STOPPING=1");
        EXPECT_EQ(socket.Read(), "");
    }
}

TEST(SystemdNoticeTest, WithoutSystemdNothingHappens) {
    for (const std::string& name :
         {std::string(), std::string("/no/such/socket"), std::string(500, 'x'), std::string("@")}) {
        const SystemdNotice notice(std::map<std::string, std::string>{{"NOTIFY_SOCKET", name}});
        notice.Ready();
        notice.Alive();
        notice.Stopping();
    }
    EXPECT_FALSE(SystemdNotice(std::map<std::string, std::string>()).alive_every());
}

TEST(SystemdNoticeTest, SignsOfLifeComeTwiceAsOftenAsNeeded) {
    const auto every = [](const char* micros) {
        const std::map<std::string, std::string> environment = {{"WATCHDOG_USEC", micros}};
        return SystemdNotice(environment).alive_every();
    };
    EXPECT_EQ(every("30000000"), seconds(15));
    EXPECT_EQ(every("500000"), milliseconds(250));
    for (const char* const none : {"", "0", "1", "-5", "soon", "10s", "99999999999999999999"}) {
        EXPECT_FALSE(every(none)) << none;
    }
}

}  // namespace
}  // namespace ksana::server
