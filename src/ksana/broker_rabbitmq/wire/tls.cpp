#include "ksana/broker_rabbitmq/wire/tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>

namespace ksana::broker_rabbitmq {
namespace {

std::string LastTlsError() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* const text = ERR_reason_error_string(code);
    return text == nullptr ? "unknown error" : text;
}

Error Unreadable(std::string_view option, const std::string& file) {
    return {Code::kInvalidArgument,
            fmt::format("{} {} cannot be used: {}", option, file, LastTlsError())};
}

// A key with a password would be asked for on the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*unused*/) { return -1; }

int SizeOf(std::string_view bytes) {
    return static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const broker::BrokerUrl& url) {
    auto made = std::make_shared<TlsContext>();
    made->context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* const context = made->get();
    if (context == nullptr) return Error(Code::kInternal, "TLS: " + LastTlsError());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_default_passwd_cb(context, NoPassword);
    const int trusted = url.ca_file.empty()
                            ? SSL_CTX_set_default_verify_paths(context)
                            : SSL_CTX_load_verify_locations(context, url.ca_file.c_str(), nullptr);
    if (trusted != 1) return Unreadable("ca_file", url.ca_file);
    if (!url.cert_file.empty()) {
        if (SSL_CTX_use_certificate_chain_file(context, url.cert_file.c_str()) != 1) {
            return Unreadable("cert_file", url.cert_file);
        }
        if (SSL_CTX_use_PrivateKey_file(context, url.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
            return Unreadable("key_file", url.key_file);
        }
    }
    return std::shared_ptr<const TlsContext>(std::move(made));
}

Result<TlsStream> TlsStream::Make(const TlsContext& context, const std::string& server) {
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
    SSL_set_connect_state(ssl);
    // An address in the certificate is compared as an address, a name as a name.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server.c_str()) == 1) return made;
    ERR_clear_error();
    // What SSL_set_tlsext_host_name does, but for its cast; the name is copied.
    std::string name = server;
    if (SSL_set1_host(ssl, name.c_str()) != 1 ||
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) != 1) {
        return Error(Code::kInvalidArgument, "TLS: the name of the server is not valid");
    }
    return made;
}

Result<void> TlsStream::OnlyWaits(int outcome) const {
    const int wanted = SSL_get_error(ssl_.get(), outcome);
    if (wanted == SSL_ERROR_WANT_READ || wanted == SSL_ERROR_WANT_WRITE) return {};
    if (wanted == SSL_ERROR_ZERO_RETURN) {
        return Error(Code::kUnavailable, "the broker closed the connection");
    }
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) {
        ERR_clear_error();
        return Error(Code::kUnavailable, fmt::format("TLS: the certificate is refused: {}",
                                                     X509_verify_cert_error_string(verdict)));
    }
    return Error(Code::kUnavailable, "TLS: " + LastTlsError());
}

Result<bool> TlsStream::ShakeHands() {
    ERR_clear_error();  // SSL_get_error looks at what other code has left there
    const int outcome = SSL_do_handshake(ssl_.get());
    if (outcome == 1) return true;
    KSANA_TRY_VOID(OnlyWaits(outcome));
    return false;
}

Result<std::size_t> TlsStream::Encrypt(std::string_view plain) {
    if (plain.empty()) return std::size_t{0};
    ERR_clear_error();
    const int count = SSL_write(ssl_.get(), plain.data(), SizeOf(plain));
    if (count > 0) return static_cast<std::size_t>(count);
    KSANA_TRY_VOID(OnlyWaits(count));
    return std::size_t{0};
}

Result<void> TlsStream::Decrypt(std::string& plain) {
    std::array<char, 16'384> buffer;
    for (;;) {
        ERR_clear_error();
        const int count = SSL_read(ssl_.get(), buffer.data(), buffer.size());
        if (count <= 0) return OnlyWaits(count);
        plain.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

void TlsStream::FromNetwork(std::string_view bytes) {
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), SizeOf(bytes));
}

void TlsStream::ToNetwork(std::string& bytes) {
    std::array<char, 16'384> buffer;
    for (;;) {
        const int count = BIO_read(SSL_get_wbio(ssl_.get()), buffer.data(), buffer.size());
        if (count <= 0) return;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace ksana::broker_rabbitmq
