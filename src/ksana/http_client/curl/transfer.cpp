#include "ksana/http_client/curl/transfer.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/http_client/call_check.hpp"
#include "ksana/http_client/curl/curl_error.hpp"
#include "ksana/http_client/curl/socket_address.hpp"
#include "ksana/http_client/failure_text.hpp"
#include "ksana/http_client/plain/address_cache.hpp"
#include "ksana/http_client/plain/plain_call.hpp"
#include "ksana/http_client/redirect.hpp"

namespace ksana::http_client {
namespace {

// Aborts on failure: the option is wrong or there is no memory.
template <class T>
void Set(CURL* handle, CURLoption option, T value) {
    const CURLcode code = libcurl::Api().curl_easy_setopt(handle, option, value);
    KSANA_CHECK(code == CURLE_OK, libcurl::Api().curl_easy_strerror(code));
}

template <class T>
T Get(CURL* handle, CURLINFO info) {
    T value{};
    libcurl::Api().curl_easy_getinfo(handle, info, &value);
    return value;
}

// Rounds up to whole milliseconds, and to at least 1, because 0 means libcurl's default.
long Milliseconds(Duration duration) {
    const auto most = std::chrono::hours(24 * 20);  // fits in 32 bits
    const auto ms =
        std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(duration, most));
    return std::max<long>(1, static_cast<long>(ms.count()));
}

}  // namespace

Transfer::Transfer(const TransferSettings& settings, Submission submission, const Before& before)
    : settings_(settings),
      id_(submission.id),
      request_(std::move(submission.request)),
      done_(std::move(submission.done)),
      resent_(before.sent),
      earlier_hops_(before.elapsed) {
    SetUpHop();
}

Transfer& Transfer::Of(CURL* handle) {
    return *static_cast<Transfer*>(Get<void*>(handle, CURLINFO_PRIVATE));
}

// Makes a new handle for every hop. libcurl 7.88 keeps a pointer to the freed last header of a
// handle's previous answer, and writes to it when an answer's head begins with a folded line
// (0017).
void Transfer::SetUpHandle() {
    handle_.reset(libcurl::Api().curl_easy_init());
    KSANA_CHECK(handle_ != nullptr, "libcurl gives no handle");
    CURL* handle = handle_.get();
    void* self = this;
    void* watches = &settings_.watches;
    Set(handle, CURLOPT_PRIVATE, self);
    Set(handle, CURLOPT_ERRORBUFFER, error_buffer_.data());
    Set(handle, CURLOPT_NOSIGNAL, 1L);
    Set(handle, CURLOPT_TCP_NODELAY, 1L);
    Set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    Set(handle, CURLOPT_MAXLIFETIME_CONN, static_cast<long>(kMaxConnectionLife.count()));
    Set(handle, CURLOPT_MAXAGE_CONN, static_cast<long>(kLongestIdle.count()));
    Set(handle, CURLOPT_DNS_CACHE_TIMEOUT, static_cast<long>(AddressCache::kKept.count()));
    // Without this, ending a call whose name lookup hangs would block the thread.
    Set(handle, CURLOPT_QUICK_EXIT, 1L);
    Set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    Set(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    Set(handle, CURLOPT_FOLLOWLOCATION, 0L);  // NextHop follows redirects
    Set(handle, CURLOPT_PROXY, "");
    Set(handle, CURLOPT_NOPROXY, "*");
    Set(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
    Set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    Set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!settings_.ca_file.empty()) {
        Set(handle, CURLOPT_CAINFO, settings_.ca_file.c_str());
        Set(handle, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    if (!settings_.crl_file.empty()) Set(handle, CURLOPT_CRLFILE, settings_.crl_file.c_str());
    Set(handle, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
    Set(handle, CURLOPT_HEADERDATA, self);
    Set(handle, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
    Set(handle, CURLOPT_WRITEDATA, self);
    Set(handle, CURLOPT_OPENSOCKETFUNCTION, &Transfer::OpenSocket);
    Set(handle, CURLOPT_OPENSOCKETDATA, self);
    Set(handle, CURLOPT_CLOSESOCKETFUNCTION, &Transfer::CloseSocket);
    Set(handle, CURLOPT_CLOSESOCKETDATA, watches);
    Set(handle, CURLOPT_PREREQFUNCTION, &Transfer::BeforeRequest);
    Set(handle, CURLOPT_PREREQDATA, self);
}

void Transfer::SetUpHop() {
    intake_.Begin();
    refusal_.clear();
    tried_.clear();
    error_buffer_[0] = '\0';
    SetUpHandle();
    Set(handle_.get(), CURLOPT_URL, request_.url.c_str());
    Set(handle_.get(), CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(request_.connect_timeout));
    Set(handle_.get(), CURLOPT_FRESH_CONNECT, resent_ ? 1L : 0L);
    SetUpMethod();
    SetUpHeaders();
}

void Transfer::SetUpMethod() {
    CURL* handle = handle_.get();
    if (request_.method == HttpMethod::kHead) {
        Set(handle, CURLOPT_NOBODY, 1L);
        return;
    }
    const bool takes_body = request_.method == HttpMethod::kPost ||
                            request_.method == HttpMethod::kPut ||
                            request_.method == HttpMethod::kPatch;
    if (takes_body || !request_.body.empty()) {
        Set(handle, CURLOPT_POST, 1L);
        Set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
        Set(handle, CURLOPT_POSTFIELDS, request_.body.c_str());  // not copied by libcurl
        if (request_.method == HttpMethod::kPost) return;
    } else if (request_.method == HttpMethod::kGet) {
        return;
    }
    Set(handle, CURLOPT_CUSTOMREQUEST, std::string(NameOf(request_.method)).c_str());
}

void Transfer::SetUpHeaders() {
    curl_slist* list = nullptr;
    const auto add = [&list](const char* line) {
        curl_slist* longer = libcurl::Api().curl_slist_append(list, line);
        KSANA_CHECK(longer != nullptr, "no memory for a header");
        list = longer;
    };
    add("Expect:");  // send the body without waiting for 100 Continue
    if (FindHeader(request_.headers, "content-type") == nullptr) add("Content-Type:");
    std::string line;
    for (const Header& header : request_.headers) {
        // In libcurl, "Name;" stands for a header without a value.
        const bool blank = Trimmed(header.value).empty();
        line = header.name;
        line += blank ? ";" : ": ";
        if (!blank) line += header.value;
        add(line.c_str());
    }
    header_list_.reset(list);
    Set(handle_.get(), CURLOPT_HTTPHEADER, list);
}

std::size_t Transfer::OnHeader(char* data, std::size_t size, std::size_t count, void* self) {
    const std::size_t bytes = size * count;
    return static_cast<Transfer*>(self)->intake_.TakeHeaderLine({data, bytes}) ? bytes : 0;
}

std::size_t Transfer::OnBody(char* data, std::size_t size, std::size_t count, void* self) {
    const std::size_t bytes = size * count;
    return static_cast<Transfer*>(self)->intake_.TakeBody({data, bytes}) ? bytes : 0;
}

bool Transfer::IsRefused(const IpAddress& address, int port) {
    const EgressRules& rules = request_.egress ? *request_.egress : settings_.egress;
    if (auto refusal = RefusalText(address, port, rules)) refusal_ = std::move(*refusal);
    return !refusal_.empty();
}

// After one refusal, no other address of the name is tried.
curl_socket_t Transfer::OpenSocket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto target = TargetOf(*address);
    if (!target || !transfer.refusal_.empty()) return CURL_SOCKET_BAD;
    transfer.tried_ = WithPort(target->address.ToString(), target->port);
    if (transfer.IsRefused(target->address, target->port)) return CURL_SOCKET_BAD;
    const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    transfer.settings_.watches.Opened(fd, *target);
    return fd;
}

int Transfer::CloseSocket(void* watches, curl_socket_t socket) {
    static_cast<WatchList*>(watches)->Closing(socket);
    return close(socket);
}

// Applies the egress rules again before the request is sent: the connection may have been made by a
// call with other rules.
int Transfer::BeforeRequest(void* self, char* remote, char* /*local*/, int remote_port,
                            int /*local_port*/) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto address = ParseIpAddress(remote);
    if (!address) {
        transfer.refusal_ = "the address of the connection is not known";
        return CURL_PREREQFUNC_ABORT;
    }
    return transfer.IsRefused(*address, remote_port) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

// Repeats the hop over a new connection if a reused one broke before any byte of the answer.
// libcurl does so itself if the target closed the connection, but not if the target reset it, which
// happens when the request and the close cross on the network.
bool Transfer::Resend(CURLcode code) {
    const bool broken =
        code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING;
    const bool reused = Get<long>(handle_.get(), CURLINFO_NUM_CONNECTS) == 0;
    if (!broken || !reused || intake_.header_bytes() > 0 || resent_) return false;
    resent_ = true;
    EndHop();
    SetUpHop();
    return true;
}

void Transfer::EndHop() {
    earlier_hops_ += Duration(Get<curl_off_t>(handle_.get(), CURLINFO_TOTAL_TIME_T));
    connections_made_ += Get<long>(handle_.get(), CURLINFO_NUM_CONNECTS);
}

bool Transfer::NextHop(CURLcode code) {
    if (!HasAnswer(code)) return Resend(code);
    if (request_.max_redirects == 0) return false;
    CURL* handle = handle_.get();
    const auto status = Get<long>(handle, CURLINFO_RESPONSE_CODE);
    const auto* location = Get<const char*>(handle, CURLINFO_REDIRECT_URL);
    if (!IsRedirect(status) || location == nullptr) return false;
    if (HasCredentials(location)) {
        refused_hop_ = "redirected to a URL with credentials";
        return false;
    }
    if (answer_.redirects >= request_.max_redirects) {
        refused_hop_ = fmt::format("more than {} redirects", request_.max_redirects);
        return false;
    }
    EndHop();
    const int redirects = answer_.redirects + 1;
    Follow(location, status, request_);
    answer_ = {};
    answer_.redirects = redirects;
    SetUpHop();
    return true;
}

CallAnswer Transfer::Finish(CURLcode code) {
    ReadInfo();
    if (!HasAnswer(code)) {
        NoteError(code);
    } else if (!refused_hop_.empty()) {
        answer_.error = CallError::kTooManyRedirects;
        answer_.error_text = refused_hop_;
    }
    return std::move(answer_);
}

CallAnswer Transfer::FinishAs(CallError error) {
    ReadInfo();
    answer_.error = error;
    answer_.error_text = TextOf(error, CURLE_OK);
    return std::move(answer_);
}

void Transfer::ReadInfo() {
    CURL* handle = handle_.get();
    const auto micros = [handle](CURLINFO info) { return Duration(Get<curl_off_t>(handle, info)); };
    answer_.status = static_cast<int>(Get<long>(handle, CURLINFO_RESPONSE_CODE));
    answer_.timings = {.dns = micros(CURLINFO_NAMELOOKUP_TIME_T),
                       .connect = micros(CURLINFO_CONNECT_TIME_T),
                       .tls = micros(CURLINFO_APPCONNECT_TIME_T),
                       .first_byte = micros(CURLINFO_STARTTRANSFER_TIME_T),
                       .total = micros(CURLINFO_TOTAL_TIME_T) + earlier_hops_};
    const auto* ip = Get<const char*>(handle, CURLINFO_PRIMARY_IP);
    const bool connected = ip != nullptr && *ip != '\0';
    answer_.remote = connected ? WithPort(ip, Get<long>(handle, CURLINFO_PRIMARY_PORT)) : tried_;
    const auto made = Get<long>(handle, CURLINFO_NUM_CONNECTS);
    connections_made_ += made;
    answer_.reused = made == 0 && connected;
    switch (Get<long>(handle, CURLINFO_HTTP_VERSION)) {
        case CURL_HTTP_VERSION_1_0:
            answer_.http_version = 10;
            break;
        case CURL_HTTP_VERSION_1_1:
            answer_.http_version = 11;
            break;
        case CURL_HTTP_VERSION_2_0:
            answer_.http_version = 20;
            break;
        default:
            break;
    }
}

std::optional<IpAddress> Transfer::ConnectedTo() const {
    if (Get<long>(handle_.get(), CURLINFO_NUM_CONNECTS) == 0) return std::nullopt;
    const auto* ip = Get<const char*>(handle_.get(), CURLINFO_PRIMARY_IP);
    return ip == nullptr ? std::nullopt : ParseIpAddress(ip);
}

void Transfer::NoteError(CURLcode code) {
    answer_.error = ErrorOfCurl(code);
    if (!refusal_.empty()) answer_.error = CallError::kEgressRefused;
    if (intake_.too_many_headers() || code == CURLE_OK) answer_.error = CallError::kProtocol;
    answer_.error_text = TextOf(answer_.error, code);
}

std::string Transfer::TextOf(CallError error, CURLcode code) const {
    const std::string& where = answer_.remote;
    if (intake_.too_many_headers()) return TooManyHeaders(request_.max_header_bytes, where);
    if (error == CallError::kProtocol && code == CURLE_OK) return BrokenHead(where);
    switch (error) {
        case CallError::kEgressRefused:
            return refusal_;
        case CallError::kCancelled:
            return "cancelled";
        case CallError::kConnect:
            return NoConnection(static_cast<int>(Get<long>(handle_.get(), CURLINFO_OS_ERRNO)),
                                where);
        case CallError::kTimeout:
            if (answer_.timings.dns == Duration::zero()) return "the name was not resolved";
            return TimedOut(answer_);
        default: {
            std::string text(Trimmed(error_buffer_.data()));
            if (text.empty()) text = libcurl::Api().curl_easy_strerror(code);
            return error == CallError::kTls ? NoTls(text, where) : text;
        }
    }
}

}  // namespace ksana::http_client
