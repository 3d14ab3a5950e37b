// Measures the limit of calls with libcurl: one multi handle, a constant number of transfers in
// flight, answers discarded, nothing stored. One JSON line.
//   ksana_bare_calls URL [IN_FLIGHT [SECONDS]]
#include <curl/curl.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "ksana/base/time/clock.hpp"

namespace ksana::bench {
namespace {

constexpr int kPatienceMs = 100;
// As long as the body of the benchmark's jobs.
constexpr const char* kBody =
    R"({"job":"0123456789abcdef","queue":"q","attempt":1,)"
    R"("payload":{"k":"vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"}})";

struct EndEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct EndMulti {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct EndList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EndEasy>;

std::size_t Discard(char* /*bytes*/, std::size_t size, std::size_t count, void* /*user*/) {
    return size * count;
}

Easy MakeEasy(const char* url, curl_slist* headers) {
    Easy easy(curl_easy_init());
    curl_easy_setopt(easy.get(), CURLOPT_URL, url);
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, kBody);
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &Discard);
    curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
    return easy;
}

// Restarts the transfers that have ended, and returns their number; negative if one failed.
std::int64_t Renew(CURLM* multi) {
    std::int64_t ended = 0;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL* easy = message->easy_handle;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (message->data.result != CURLE_OK || status != 204) return -1;
        ++ended;
        curl_multi_remove_handle(multi, easy);
        curl_multi_add_handle(multi, easy);
    }
    return ended;
}

int Run(const char* url, int in_flight, double seconds) {
    const std::unique_ptr<curl_slist, EndList> headers(
        curl_slist_append(nullptr, "Content-Type: application/json"));
    const std::unique_ptr<CURLM, EndMulti> multi(curl_multi_init());
    curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(in_flight));
    std::vector<Easy> all;
    for (int i = 0; i < in_flight; ++i) {
        all.push_back(MakeEasy(url, headers.get()));
        curl_multi_add_handle(multi.get(), all.back().get());
    }
    const SystemClock clock;
    const SteadyPoint start = clock.SteadyNow();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(clock.SteadyNow() - start).count();
    };
    std::int64_t calls = 0;
    while (elapsed() < seconds) {
        int running = 0;
        curl_multi_perform(multi.get(), &running);
        const std::int64_t ended = Renew(multi.get());
        if (ended < 0) {
            fmt::print(stderr, "bare_calls: a call to {} failed\n", url);
            return 1;
        }
        calls += ended;
        curl_multi_poll(multi.get(), nullptr, 0, kPatienceMs, nullptr);
    }
    fmt::print("{{\"calls_per_s\": {:.1f}, \"in_flight\": {}}}\n",
               static_cast<double>(calls) / elapsed(), in_flight);
    for (const Easy& easy : all) curl_multi_remove_handle(multi.get(), easy.get());
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main(int count, char** words) {
    if (count < 2) return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const int in_flight = count > 2 ? std::atoi(words[2]) : 64;
    const double seconds = count > 3 ? std::atof(words[3]) : 3;
    const int code = ksana::bench::Run(words[1], in_flight, seconds);
    curl_global_cleanup();
    return code;
}
