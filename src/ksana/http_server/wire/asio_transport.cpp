#include "ksana/http_server/wire/asio_transport.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace ksana::http_server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

void ReportRead(TransportEvents& events, const error_code& error, std::size_t bytes) {
    if (!error) {
        events.OnRead(bytes);
    } else if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
        events.OnRead(0);
    } else {
        events.OnReadFailed();
    }
}

// A transport over a plain TCP socket.
class PlainTransport final : public Transport {
  public:
    PlainTransport(Socket socket, std::string peer)
        : socket_(std::move(socket)), peer_(std::move(peer)) {
        error_code ignored;
        (void)socket_.non_blocking(true, ignored);
    }

    void Open(Owner owner) override {
        asio::post(socket_.get_executor(), [owner = std::move(owner)] { owner->OnOpened(true); });
    }

    void Read(Owner owner, std::span<char> into) override {
        socket_.async_read_some(
            asio::buffer(into.data(), into.size()),
            [owner = std::move(owner)](const error_code& error, std::size_t bytes) {
                ReportRead(*owner, error, bytes);
            });
    }

    // Tries to write at once: nearly every answer fits into the socket's buffer, which saves a
    // round of the loop.
    bool Write(Owner owner, std::string_view text) override {
        error_code error;
        const std::size_t sent = socket_.write_some(asio::buffer(text.data(), text.size()), error);
        if (!error && sent == text.size()) return true;
        if (!error) text.remove_prefix(sent);
        asio::async_write(socket_, asio::buffer(text.data(), text.size()),
                          [owner = std::move(owner)](const error_code& failed, std::size_t) {
                              owner->OnWritten(!failed);
                          });
        return false;
    }

    void ShutdownSend(Owner /*owner*/) override {
        error_code ignored;
        (void)socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    }

    void Close() override {
        error_code ignored;
        (void)socket_.close(ignored);
    }

    bool secure() const override { return false; }
    const std::string& peer() const override { return peer_; }

  private:
    Socket socket_;
    const std::string peer_;
};

// A transport over TLS.
class TlsTransport final : public Transport {
  public:
    TlsTransport(Socket socket, asio::ssl::context& tls, std::string peer)
        : stream_(std::move(socket), tls), peer_(std::move(peer)) {}

    void Open(Owner owner) override {
        stream_.async_handshake(
            asio::ssl::stream_base::server,
            [owner = std::move(owner)](const error_code& error) { owner->OnOpened(!error); });
    }

    void Read(Owner owner, std::span<char> into) override {
        stream_.async_read_some(
            asio::buffer(into.data(), into.size()),
            [owner = std::move(owner)](const error_code& error, std::size_t bytes) {
                ReportRead(*owner, error, bytes);
            });
    }

    bool Write(Owner owner, std::string_view text) override {
        asio::async_write(stream_, asio::buffer(text.data(), text.size()),
                          [owner = std::move(owner)](const error_code& error, std::size_t) {
                              owner->OnWritten(!error);
                          });
        return false;
    }

    // Sends close_notify. async_shutdown also waits for the client's close_notify, which is
    // harmless: the connection sees the end of its input, or its linger time passes.
    void ShutdownSend(Owner owner) override {
        stream_.async_shutdown([owner = std::move(owner)](const error_code&) {});
    }

    void Close() override {
        error_code ignored;
        (void)stream_.next_layer().close(ignored);
    }

    bool secure() const override { return true; }
    const std::string& peer() const override { return peer_; }

  private:
    asio::ssl::stream<Socket> stream_;
    const std::string peer_;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(Socket socket, std::string peer) {
    return std::make_unique<PlainTransport>(std::move(socket), std::move(peer));
}

std::unique_ptr<Transport> MakeTlsTransport(Socket socket, asio::ssl::context& tls,
                                            std::string peer) {
    return std::make_unique<TlsTransport>(std::move(socket), tls, std::move(peer));
}

}  // namespace ksana::http_server
