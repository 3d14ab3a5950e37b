#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/http_client/client.hpp"

namespace ksana::client {

using http_client::Header;

using Query = std::vector<std::pair<std::string, std::string>>;

struct ApiClientOptions {
    std::string server;   // "http://127.0.0.1:7100"; may have a path in front of the API's
    std::string token;    // empty: none is shown
    std::string ca_file;  // PEM; empty: the system's
    Duration timeout = std::chrono::seconds(30);  // of one request
    // Looked at while an answer is waited for: true ends the wait. Empty: never.
    std::function<bool()> interrupted;
};

struct ApiRequest {
    HttpMethod method = HttpMethod::kGet;
    std::string path;  // "/api/v1/jobs"; its parts are encoded (ApiPath)
    Query query;
    std::string body;                  // JSON; empty: none
    std::vector<Header> headers = {};  // If-Match and the like
};

struct ApiAnswer {
    int status = 0;
    std::vector<Header> headers;
    std::string body;
    codec::Json json;  // of the body; null where it is not JSON

    std::string HeaderValue(std::string_view name) const;
};

// "/api/v1/jobs/a%20b/run" of {"jobs", "a b", "run"}.
std::string ApiPath(std::initializer_list<std::string_view> parts);

// Talks to one server, a request at a time; blocks. An answer of 400 and above is an error
// (api_error.hpp), and so is a server that cannot be reached. A POST carries an Idempotency-Key,
// so it is sent once more where the connection ended before the answer; so is a GET.
class ApiClient {
    struct Secret {};  // so that only Make makes one

  public:
    struct Parts {
        Clock& clock;
        UuidGenerator& ids;
    };
    // Fails for a URL that is none. Nothing is sent yet.
    static Result<std::unique_ptr<ApiClient>> Make(ApiClientOptions options, const Parts& parts);
    ApiClient(Secret, ApiClientOptions options, const Parts& parts);
    ~ApiClient();
    ApiClient(const ApiClient&) = delete;
    ApiClient& operator=(const ApiClient&) = delete;

    Result<ApiAnswer> Call(ApiRequest request);

    Result<ApiAnswer> Get(std::string path, Query query = {});
    Result<ApiAnswer> Post(std::string path, const codec::Json& body = {});
    // `if_match`: the entity tag it must still have; "" for none. `If-None-Match: *` is said by
    // `kMustBeNew`.
    Result<ApiAnswer> Put(std::string path, const codec::Json& body, std::string if_match = "");
    Result<ApiAnswer> Patch(std::string path, const codec::Json& body, std::string if_match = "");
    Result<ApiAnswer> Delete(std::string path, std::string if_match = "");

    static constexpr std::string_view kMustBeNew = "*new*";

    const std::string& server() const { return options_.server; }

  private:
    http_client::CallRequest Prepare(ApiRequest& request) const;
    http_client::CallAnswer Await(const http_client::CallRequest& request);

    const ApiClientOptions options_;
    Clock& clock_;
    UuidGenerator& ids_;
    http_client::Client client_;
};

}  // namespace ksana::client
