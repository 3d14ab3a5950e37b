#include "ksana/worker/server_list.hpp"

#include <algorithm>

#include "ksana/client/server_url.hpp"

namespace ksana::worker {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(15);
constexpr std::size_t kMostDoublings = 8;  // beyond the longest pause

}  // namespace

Duration Jittered(Duration time, Random& random) {
    const auto half = static_cast<std::uint64_t>(time.count()) / 2;
    return Duration(static_cast<Duration::rep>(half + random.Below(half + 1)));
}

Result<ServerList> ServerList::Parse(std::string_view text) {
    std::vector<std::string> urls;
    for (;;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        KSANA_TRY(std::string url, client::CheckServerUrl(std::string(text.substr(0, comma))));
        urls.push_back(std::move(url));
        if (comma == text.size()) return ServerList(std::move(urls));
        text.remove_prefix(comma + 1);
    }
}

void ServerList::NoteAnswer(std::size_t of) {
    if (of == current_) failures_ = 0;
}

Duration ServerList::NoteFailure(std::size_t of, Random& random) {
    if (of != current_) return Jittered(kFirstPause, random);
    ++failures_;
    Turn();
    if (failures_ < urls_.size()) return Duration::zero();  // the others may be there
    const std::size_t rounds = std::min((failures_ - 1) / urls_.size(), kMostDoublings);
    return Jittered(std::min(kFirstPause * (1 << rounds), kLongestPause), random);
}

void ServerList::Leave() {
    if (urls_.size() > 1) Turn();
}

void ServerList::Turn() {
    current_ = (current_ + 1) % urls_.size();
    ++turns_;
}

}  // namespace ksana::worker
