#include "ksana/http_client/curl/curl_error.hpp"

namespace ksana::http_client {

CallError ErrorOfCurl(CURLcode code) {
    switch (code) {
        case CURLE_OK:
            return CallError::kNone;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
            return CallError::kDns;
        case CURLE_COULDNT_CONNECT:
        case CURLE_INTERFACE_FAILED:
            return CallError::kConnect;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ENGINE_INITFAILED:
        case CURLE_SSL_ENGINE_NOTFOUND:
        case CURLE_SSL_ENGINE_SETFAILED:
        case CURLE_SSL_SHUTDOWN_FAILED:
        case CURLE_SSL_CRL_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        case CURLE_SSL_INVALIDCERTSTATUS:
        case CURLE_SSL_CLIENTCERT:
        case CURLE_USE_SSL_FAILED:
            return CallError::kTls;
        case CURLE_OPERATION_TIMEDOUT:
            return CallError::kTimeout;
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_UNSUPPORTED_PROTOCOL:  // also for an invalid status line
        case CURLE_HTTP2:
        case CURLE_HTTP2_STREAM:
        case CURLE_PARTIAL_FILE:
        case CURLE_WRITE_ERROR:
        case CURLE_GOT_NOTHING:
        case CURLE_SEND_ERROR:
        case CURLE_RECV_ERROR:
        case CURLE_BAD_CONTENT_ENCODING:
        case CURLE_SEND_FAIL_REWIND:
        case CURLE_HTTP_RETURNED_ERROR:
        case CURLE_UNRECOVERABLE_POLL:
            return CallError::kProtocol;
        case CURLE_TOO_MANY_REDIRECTS:
            return CallError::kTooManyRedirects;
        default:
            return CallError::kOther;
    }
}

}  // namespace ksana::http_client
