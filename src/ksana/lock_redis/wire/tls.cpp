#include "ksana/lock_redis/wire/tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>

namespace ksana::lock_redis {
namespace {

std::string LastTlsError() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* const text = ERR_reason_error_string(code);
    return text == nullptr ? "unknown error" : text;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const std::string& ca_file) {
    auto made = std::make_shared<TlsContext>();
    made->context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* const context = made->get();
    if (context == nullptr) return Error(Code::kInternal, "TLS: " + LastTlsError());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const int trusted = ca_file.empty()
                            ? SSL_CTX_set_default_verify_paths(context)
                            : SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr);
    if (trusted != 1) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the CA file {} cannot be read: {}", ca_file, LastTlsError()));
    }
    return std::shared_ptr<const TlsContext>(std::move(made));
}

Result<TlsStream> TlsStream::Open(const TlsContext& context, const std::string& host,
                                  Socket& socket, const Deadline& deadline) {
    TlsStream made(SSL_new(context.get()));
    SSL* const ssl = made.ssl_.get();
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (ssl == nullptr || in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        return Error(Code::kInternal, "TLS: " + LastTlsError());
    }
    SSL_set_bio(ssl, in, out);  // owns both
    // An address in the certificate is compared as an address, a name as a name.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) != 1) {
        ERR_clear_error();
        // What SSL_set_tlsext_host_name does, but for its cast; the name is copied.
        std::string name = host;
        if (SSL_set1_host(ssl, name.c_str()) != 1 ||
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) !=
                1) {
            return Error(Code::kInvalidArgument, "TLS: the host name is not valid");
        }
    }
    for (;;) {
        ERR_clear_error();  // SSL_get_error looks at what other code has left there
        const int outcome = SSL_connect(ssl);
        if (outcome == 1) break;
        KSANA_TRY_VOID(made.Carry(socket, outcome, deadline));
    }
    KSANA_TRY_VOID(made.Flush(socket, deadline));
    return made;
}

Error TlsStream::Describe() const {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) {
        ERR_clear_error();
        return {Code::kUnavailable, fmt::format("TLS: the certificate is refused: {}",
                                                X509_verify_cert_error_string(verdict))};
    }
    return {Code::kUnavailable, "TLS: " + LastTlsError()};
}

Result<void> TlsStream::Flush(Socket& socket, const Deadline& deadline) {
    BIO* const out = SSL_get_wbio(ssl_.get());
    std::array<char, 4096> buffer;
    for (;;) {
        const int count = BIO_read(out, buffer.data(), buffer.size());
        if (count <= 0) return {};
        KSANA_TRY_VOID(socket.Send({buffer.data(), static_cast<std::size_t>(count)}, deadline));
    }
}

Result<void> TlsStream::Carry(Socket& socket, int outcome, const Deadline& deadline) {
    const int wanted = SSL_get_error(ssl_.get(), outcome);
    if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE) {
        Error fault = wanted == SSL_ERROR_ZERO_RETURN ? socket.Ended("by the server") : Describe();
        // The alert that says why goes to the server; whether it arrives does not matter.
        (void)Flush(socket, deadline);
        return fault;
    }
    KSANA_TRY_VOID(Flush(socket, deadline));
    if (wanted == SSL_ERROR_WANT_WRITE) return {};
    std::string bytes;
    KSANA_TRY_VOID(socket.Receive(bytes, deadline));
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    return {};
}

Result<void> TlsStream::Send(Socket& socket, std::string_view bytes, const Deadline& deadline) {
    while (!bytes.empty()) {
        ERR_clear_error();
        const int count = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
        if (count > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else {
            KSANA_TRY_VOID(Carry(socket, count, deadline));
        }
    }
    return Flush(socket, deadline);
}

Result<void> TlsStream::Receive(Socket& socket, std::string& bytes, const Deadline& deadline) {
    std::array<char, 4096> buffer;
    for (;;) {
        ERR_clear_error();
        const int count = SSL_read(ssl_.get(), buffer.data(), buffer.size());
        if (count > 0) {
            bytes.append(buffer.data(), static_cast<std::size_t>(count));
            return {};
        }
        KSANA_TRY_VOID(Carry(socket, count, deadline));
    }
}

}  // namespace ksana::lock_redis
