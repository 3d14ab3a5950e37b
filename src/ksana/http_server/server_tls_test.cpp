#include <openssl/ssl.h>

#include <cstdlib>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/server_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::http_server {
namespace {

using testing::RawClient;

// A TLS client over the socket of a RawClient.
class TlsClient {
  public:
    TlsClient(std::uint16_t port, int newest_version)
        : raw_(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
        // Lets the client itself offer old versions.
        SSL_CTX_set_security_level(context_.get(), 0);
        SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context_.get(), newest_version);
        ssl_ = {SSL_new(context_.get()), SSL_free};
        SSL_set_fd(ssl_.get(), raw_.socket());
        connected_ = SSL_connect(ssl_.get()) == 1;
    }

    bool connected() const { return connected_; }
    void Send(std::string_view text) {
        SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
    }
    // Returns everything up to the server's close_notify, or nothing if there is no close_notify.
    std::string ReadAll() {
        std::string all;
        std::array<char, 4096> buffer{};
        int count = 0;
        while ((count = SSL_read(ssl_.get(), buffer.data(), buffer.size())) > 0) {
            all.append(buffer.data(), static_cast<std::size_t>(count));
        }
        const bool orderly = SSL_get_error(ssl_.get(), count) == SSL_ERROR_ZERO_RETURN;
        return orderly ? all : std::string();
    }

  private:
    RawClient raw_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
    bool connected_ = false;
};

class ServerTlsTest : public ServerTest {
  protected:
    static void SetUpTestSuite() {
        folder_ = std::make_unique<test::TemporaryFolder>();
        const std::string command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
            "-subj /CN=localhost -days 2 -keyout " +
            folder_->File("key.pem") + " -out " + folder_->File("cert.pem") + " 2>/dev/null";
        ASSERT_EQ(std::system(command.c_str()), 0);
    }
    static void TearDownTestSuite() { folder_.reset(); }

    ServerTlsTest() {
        options_.tls = TlsOptions{.certificate_file = folder_->File("cert.pem"),
                                  .key_file = folder_->File("key.pem")};
    }

    static inline std::unique_ptr<test::TemporaryFolder> folder_;
};

TEST_F(ServerTlsTest, ServesOverTls) {
    router_.Add({HttpMethod::kGet, "/secure", Permission::kPublic, "Tells.", Where::kPool,
                 [](const Request& request) {
                     return TextResponse(200, request.secure ? "secure" : "plain");
                 }});
    Start();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsClient client(server_->port(), version);
        ASSERT_TRUE(client.connected());
        client.Send(Get("/secure") + Post("/echo", std::string(100'000, 'x')) +
                    Get("/hello", "Connection: close\r\n"));
        const std::string all = client.ReadAll();
        EXPECT_NE(all.find("\r\n\r\nsecure"), std::string::npos);
        EXPECT_NE(all.find(std::string(100'000, 'x')), std::string::npos);
        EXPECT_TRUE(all.ends_with("hello"));
    }
}

TEST_F(ServerTlsTest, OldVersionsAreRefused) {
    Start();
    EXPECT_FALSE(TlsClient(server_->port(), TLS1_1_VERSION).connected());
    EXPECT_TRUE(TlsClient(server_->port(), TLS1_2_VERSION).connected());
}

TEST_F(ServerTlsTest, PlainTextAndHalfHandshakesAreCut) {
    options_.header_deadline = std::chrono::milliseconds(100);
    Start();
    RawClient plain = Client();
    plain.Send(Get("/hello"));
    EXPECT_EQ(plain.ReadAll().find("HTTP/1.1"), std::string::npos);
    RawClient silent = Client();
    EXPECT_TRUE(silent.AtEnd());
    EXPECT_EQ(server_->statistics().connections_cut, 1U);
}

TEST_F(ServerTlsTest, StopsWithConnectionsOpen) {
    options_.drain = std::chrono::milliseconds(100);
    Start();
    TlsClient idle(server_->port(), TLS1_3_VERSION);
    ASSERT_TRUE(idle.connected());
    server_->Stop();
    EXPECT_EQ(server_->statistics().connections_open, 0U);
}

TEST_F(ServerTlsTest, StartTellsWhichFileIsWrong) {
    options_.tls->certificate_file = folder_->File("none.pem");
    auto started = Server(options_, Router(), clock_, random_).Start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Code::kInvalidArgument);
    EXPECT_NE(started.error().message.find("none.pem"), std::string::npos);
    options_.tls->certificate_file = folder_->File("cert.pem");
    options_.tls->key_file = folder_->File("cert.pem");
    started = Server(options_, Router(), clock_, random_).Start();
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message.find("cannot use the key"), std::string::npos);
}

}  // namespace
}  // namespace ksana::http_server
