#include "ksana/store_sqlite/rows/run_lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "ksana/model/run/claim_order.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_sqlite {
namespace {

using model::RunState;

constexpr char kEndOfGroup = '\0';  // occurs in no text
constexpr std::size_t kOrderBytes = 8;
constexpr std::size_t kIdBytes = sizeof(Uuid::bytes);

// Appends the number so that negative numbers sort first.
void PutOrder(std::string& out, std::int64_t order) {
    const std::uint64_t bits = static_cast<std::uint64_t>(order) ^ (std::uint64_t{1} << 63U);
    std::array<char, kOrderBytes> bytes{};
    for (std::size_t i = 0; i < kOrderBytes; ++i) {
        bytes.at(i) = static_cast<char>(bits >> (8 * (kOrderBytes - 1 - i)));
    }
    out.append(bytes.data(), bytes.size());
}

std::int64_t TakeOrder(std::string_view text) {
    std::uint64_t bits = 0;
    for (const char byte : text) bits = bits << 8U | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63U));
}

// Appends the bytes as characters: std::string would first make a temporary string of other bytes.
void PutId(std::string& out, const Uuid& id) {
    const auto chars = std::bit_cast<std::array<char, kIdBytes>>(id.bytes);
    out.append(chars.data(), chars.size());
}

// Appends "4:mail": with the length in front, the text needs no terminator.
void PutText(std::string& out, std::string_view text) {
    out.append(std::to_string(text.size())).push_back(':');
    out.append(text);
}

std::string_view TakeText(std::string_view& rest) {
    std::size_t size = 0;
    const char* const end = rest.data() + rest.size();
    const char* const colon = std::from_chars(rest.data(), end, size).ptr;
    rest.remove_prefix(std::min(rest.size(), static_cast<std::size_t>(colon - rest.data()) + 1));
    const std::string_view text = rest.substr(0, size);
    rest.remove_prefix(text.size());
    return text;
}

std::string GroupPrefix(Lane lane, std::string_view group) {
    std::string out(1, static_cast<char>(lane));
    out.append(group).push_back(kEndOfGroup);
    return out;
}

// Returns the end of the range of all places that begin with the group's prefix.
std::string GroupEnd(Lane lane, std::string_view group) {
    std::string out = GroupPrefix(lane, group);
    ++out.back();
    return out;
}

Place PlaceOf(const model::Run& run) {
    const model::RunStatus& status = run.status;
    const Lane lane = LaneOf(status.state);
    const auto micros = [](const std::optional<TimePoint>& time) {
        return time ? time->time_since_epoch().count() : store_kit::kNoTime;
    };
    if (model::IsFinal(status.state)) return {lane, "", micros(status.finished_at)};
    if (status.state == RunState::kRunning) return {lane, "", micros(model::ExpiresAt(run))};
    if (status.state != RunState::kQueued) return {lane, "", micros(status.ready_at)};
    if (const auto look_at = model::LooksAgainAt(run)) return {kAwaitingLane, "", micros(look_at)};
    if (status.blocked) return {kBlockedLane, run.job_id, micros(status.ready_at)};
    return {ReadyLane(run.kind), run.type, model::ClaimRank(status.ready_at, run.priority)};
}

}  // namespace

std::string SelectiveGroup(std::string_view type, const TextMap& selector) {
    std::string group;
    PutText(group, type);
    for (const auto& [key, value] : selector) {
        PutText(group, key);
        PutText(group, value);
    }
    return group;
}

Selective ReadSelectiveGroup(std::string_view group) {
    Selective selective{.type = std::string(TakeText(group)), .selector = {}};
    while (!group.empty()) {
        std::string key(TakeText(group));
        selective.selector.Add(std::move(key), std::string(TakeText(group)));
    }
    return selective;
}

void PutPlace(const model::Run& run, std::string& out) {
    const Place place = PlaceOf(run);
    const bool selective = place.lane >= kReadyLanes && !run.selector.empty();
    out.clear();
    out.push_back(static_cast<char>(selective ? SelectiveLane(run.kind) : place.lane));
    if (selective) {
        out.append(SelectiveGroup(run.type, run.selector));
    } else {
        out.append(place.group);
    }
    out.push_back(kEndOfGroup);
    PutOrder(out, place.order);
    PutId(out, run.id);
}

Place ReadPlace(std::string_view text) {
    Place place;
    if (text.size() < 2 + kOrderBytes + kIdBytes) return place;  // never written
    const std::size_t group = text.size() - 2 - kOrderBytes - kIdBytes;
    place.lane = static_cast<Lane>(text.front());
    place.group = text.substr(1, group);
    place.order = TakeOrder(text.substr(2 + group, kOrderBytes));
    return place;
}

PlaceRange InLanes(Lane first, Lane last) {
    return {std::string(1, static_cast<char>(first)), std::string(1, static_cast<char>(last + 1))};
}

PlaceRange InLane(Lane lane) { return InLanes(lane, lane); }

PlaceRange InGroup(Lane lane, std::string_view group) {
    return {GroupPrefix(lane, group), GroupEnd(lane, group)};
}

PlaceRange UpTo(Lane lane, std::string_view group, std::int64_t order) {
    PlaceRange range = InGroup(lane, group);
    if (order == INT64_MAX) return range;
    range.to = GroupPrefix(lane, group);
    PutOrder(range.to, order + 1);
    return range;
}

PlaceRange AfterGroup(Lane lane, std::string_view group) {
    return {GroupEnd(lane, group), InLane(lane).to};
}

std::string FirstPlace(Lane lane, std::int64_t order) {
    std::string out = GroupPrefix(lane, "");
    PutOrder(out, order);
    return out;
}

std::string PlaceAt(Lane lane, std::int64_t order, const Uuid& id) {
    std::string out = FirstPlace(lane, order);
    PutId(out, id);
    return out;
}

std::string FinalKey(RunState state, const Uuid& id) {
    std::string out(1, static_cast<char>(state));
    PutId(out, id);
    return out;
}

}  // namespace ksana::store_sqlite
