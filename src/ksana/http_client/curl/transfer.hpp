#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "ksana/http_client/answer_collector.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/watch_list.hpp"
#include "ksana/libcurl/libcurl.hpp"

namespace ksana::http_client {

// Shared by all transfers of a client; the referenced objects outlive them.
struct TransferSettings {
    const std::string& ca_file;
    const std::string& crl_file;
    const EgressRules& egress;
    WatchList& watches;
};

// A call and the libcurl easy handle that carries it, one handle per hop. A hop is the first
// attempt, a followed redirect, or the repetition after a broken kept-alive connection. MultiLoop
// owns the transfer, adds the handle to its multi handle, and removes it before it calls NextHop or
// destroys the transfer. Client's thread only.
class Transfer {
  public:
    // What the plain path has done for this call before it fell back to libcurl.
    struct Before {
        Duration elapsed{};
        bool sent = false;  // sent over a connection that turned out to be closed
    };

    // Prepares a handle for the first hop.
    Transfer(const TransferSettings& settings, Submission submission, const Before& before);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CURL* handle() const { return handle_.get(); }
    CallId id() const { return id_; }

    // Returns the transfer that `handle` belongs to.
    static Transfer& Of(CURL* handle);

    // Decides what follows a hop that ended with `code`. Returns true if another hop is needed (a
    // redirect, or the repetition after a broken kept-alive connection); handle() is then a new
    // handle to be added to the multi handle. The old handle must have been removed from it.
    bool NextHop(CURLcode code);

    // Ends the call and returns its answer, to be passed to the callback that TakeDone returns.
    CallAnswer Finish(CURLcode code);
    // Like Finish, for a call that the client ends itself (kTimeout, kCancelled).
    CallAnswer FinishAs(CallError error);
    CallDone TakeDone() { return std::exchange(done_, nullptr); }

    // Connections made by all hops. Valid after Finish or FinishAs.
    long connections_made() const { return connections_made_; }

    // Returns the address of the connection that the last hop made, or nullopt if it reused one.
    std::optional<IpAddress> ConnectedTo() const;

  private:
    struct FreeHandle {
        void operator()(CURL* handle) const { libcurl::Api().curl_easy_cleanup(handle); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { libcurl::Api().curl_slist_free_all(list); }
    };

    // Callbacks of libcurl. `self` is the transfer. CloseSocket gets the watch list instead,
    // because libcurl may close a socket long after the transfer is gone.
    static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self);
    static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
    static curl_socket_t OpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
    static int CloseSocket(void* watches, curl_socket_t socket);
    static int BeforeRequest(void* self, char* remote, char* local, int remote_port,
                             int local_port);

    void SetUpHandle();
    void SetUpHop();
    bool Resend(CURLcode code);
    void EndHop();
    void SetUpMethod();
    void SetUpHeaders();
    bool IsRefused(const IpAddress& address, int port);
    // Checks the head itself, because libcurl accepts a head that breaks off after its first line.
    bool HasAnswer(CURLcode code) const {
        return (code == CURLE_OK && intake_.head_ended()) || intake_.stopped_reading();
    }
    void ReadInfo();
    void NoteError(CURLcode code);
    std::string TextOf(CallError error, CURLcode code) const;

    const TransferSettings settings_;
    std::unique_ptr<CURL, FreeHandle> handle_;
    std::unique_ptr<curl_slist, FreeList> header_list_;
    std::array<char, CURL_ERROR_SIZE> error_buffer_{};

    const CallId id_;
    CallRequest request_;
    CallDone done_;
    CallAnswer answer_;
    AnswerCollector intake_{request_, answer_};  // of this hop
    bool resent_ = false;
    std::string refusal_;      // error text of the egress guard; empty: not refused
    std::string refused_hop_;  // why a redirect is not followed; empty: none was refused
    std::string tried_;        // address and port of the last connection attempt
    Duration earlier_hops_{};
    long connections_made_ = 0;
};

}  // namespace ksana::http_client
