#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "ksana/http_client/answer_intake.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/watch_list.hpp"
#include "ksana/libcurl/libcurl.hpp"

namespace ksana::http_client {

// What all transfers of a client have in common; outlives them.
struct TransferSettings {
    const std::string& ca_file;
    const EgressRules& egress;
    WatchList& watches;
};

// A call and the easy handle of libcurl that carries it. The handle is in the multi handle from the
// start to Finish, except when NextHop is called, which the owner sees to. Client's thread only.
class Transfer {
  public:
    // What has been tried without libcurl.
    struct Before {
        Duration elapsed{};
        bool sent = false;  // over a connection that turned out to be closed
    };

    // Makes a handle ready for the call.
    Transfer(const TransferSettings& settings, Submission submission, const Before& before);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CURL* handle() const { return handle_.get(); }
    CallId id() const { return id_; }

    // The transfer that a handle belongs to.
    static Transfer& Of(CURL* handle);

    // A hop is over, and the handle out of the multi handle. True: there is another one, with a
    // handle of its own that is ready: a redirect is followed, or the call is sent once more
    // because the kept-alive connection had been closed.
    bool NextHop(CURLcode code);

    // The call is over. `TakeDone` gives what is to be called with it.
    CallAnswer Finish(CURLcode code);
    // Likewise, because of us and not of libcurl.
    CallAnswer FinishAs(CallError error);
    CallDone TakeDone() { return std::exchange(done_, nullptr); }

    // All hops together; valid once the call has ended.
    long connections_made() const { return connections_made_; }

    // Where the last hop went over a connection that was made for it.
    std::optional<IpAddress> ConnectedTo() const;

  private:
    struct FreeHandle {
        void operator()(CURL* handle) const { libcurl::Api().curl_easy_cleanup(handle); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { libcurl::Api().curl_slist_free_all(list); }
    };

    // Callbacks of libcurl; `self` is the transfer, except for CloseSocket, which may come long
    // after it and gets the watch list.
    static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self);
    static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
    static curl_socket_t OpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
    static int CloseSocket(void* watches, curl_socket_t socket);
    static int BeforeRequest(void* self, char* remote, char* local, int remote_port,
                             int local_port);

    void SetUpHandle();
    void SetUpHop();
    bool SendOnceMore(CURLcode code);
    void EndHop();
    void SetUpMethod();
    void SetUpHeaders();
    bool IsRefused(const IpAddress& address, int port);
    // libcurl takes a head that breaks off after its first line for a whole one.
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
    AnswerIntake intake_{request_, answer_};  // of this hop
    bool sent_once_more_ = false;
    std::string refusal_;      // of the guard
    std::string refused_hop_;  // why a redirect is not followed
    std::string tried_;        // the address of the last attempt to connect
    Duration earlier_hops_{};
    long connections_made_ = 0;
};

}  // namespace ksana::http_client
