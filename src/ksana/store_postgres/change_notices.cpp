#include "ksana/store_postgres/change_notices.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/base/log/log.hpp"

namespace ksana::store_postgres {
namespace {

// Pause between two notices of a node.
constexpr Duration kPause = std::chrono::milliseconds(4);
// How long the listener may take to notice a stop request.
constexpr Duration kListenSlice = std::chrono::milliseconds(100);

constexpr std::string_view kNoSync = "SELECT set_config('synchronous_commit', 'off', true)";
constexpr std::string_view kNotify = "SELECT pg_notify($1::text, $2::text)";

// Returns the topics of a notice by another node; none for a notice of this node.
store::Topics TopicsOf(std::string_view payload, std::string_view own_node) {
    const std::size_t colon = payload.find(':');
    if (colon == std::string_view::npos) return store::Topics::All();
    if (payload.substr(0, colon) == own_node) return {};
    std::uint32_t bits = 0;
    std::from_chars(payload.data() + colon + 1, payload.data() + payload.size(), bits);
    return store::Topics::FromBits(bits) & store::Topics::All();
}

}  // namespace

ChangeNotices::ChangeNotices(Parts parts)
    : parts_(std::move(parts)),
      node_(fmt::format("{:016x}", parts_.backoff.Draw())),
      channel_(fmt::format("ksana_{}", parts_.schema)),
      sender_("pg-notify", [this](const std::stop_token& stop) { Send(stop); }),
      listener_("pg-listen", [this](const std::stop_token& stop) { Listen(stop); }) {}

Result<void> ChangeNotices::Start() {
    if (auto fault = Subscribe()) return std::move(fault->error);
    KSANA_TRY_VOID(sender_.Start());
    return listener_.Start();
}

void ChangeNotices::Announce(store::Topics topics) {
    if (topics.Empty()) return;
    if (pending_.fetch_or(topics.bits()) == 0) wakeup_.Notify();
}

void ChangeNotices::Send(const std::stop_token& stop) {
    std::unique_ptr<Connection> connection;
    int failures = 0;
    while (!stop.stop_requested()) {
        const auto far = parts_.clock.SteadyNow() + std::chrono::hours(1);
        parts_.clock.Wait(wakeup_, far, stop);
        const auto topics = store::Topics::FromBits(pending_.exchange(0));
        if (topics.Empty()) continue;
        if (SendOne(connection, topics)) {
            failures = 0;
            Wakeup pause;
            parts_.clock.Wait(pause, parts_.clock.SteadyNow() + kPause, stop);
        } else {
            const Deadline deadline(parts_.clock, parts_.timeout);
            parts_.backoff.Wait(++failures, kConnectBackoff, deadline, stop);
            Announce(topics);
        }
    }
}

bool ChangeNotices::SendOne(std::unique_ptr<Connection>& connection, store::Topics topics) {
    const Deadline deadline(parts_.clock, parts_.timeout);
    if (!connection) {
        auto made = parts_.pool.Connect(deadline);
        if (std::holds_alternative<Fault>(made)) return false;
        connection = std::move(std::get<0>(made));
    }
    // A notice need not survive a crash, so do not wait for the disk.
    std::vector<Statement> statements(2);
    statements[0].sql = kNoSync;
    statements[1].sql = kNotify;
    statements[1].params.Add(channel_).Add(fmt::format("{}:{}", node_, topics.bits()));
    const auto answer = connection->RoundTrip(statements, deadline);
    if (std::holds_alternative<std::vector<Rows>>(answer)) return true;
    connection.reset();
    return false;
}

std::optional<Fault> ChangeNotices::Subscribe() {
    const Deadline deadline(parts_.clock, parts_.timeout);
    auto made = parts_.pool.Connect(deadline);
    if (auto* fault = std::get_if<Fault>(&made)) return std::move(*fault);
    std::vector<Statement> statements(1);
    statements[0].owned = fmt::format("LISTEN \"{}\"", channel_);
    auto answer = std::get<0>(made)->RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<Fault>(&answer)) return std::move(*fault);
    if (auto fault = parts_.session.Attach(*std::get<0>(made), deadline)) return fault;
    listening_ = std::move(std::get<0>(made));
    return std::nullopt;
}

void ChangeNotices::CloseListening() {
    listening_.reset();
    parts_.session.Detach();
}

// Waits one slice for notices, and keeps the session of this node on the connection.
std::optional<Fault> ChangeNotices::Hear() {
    const Deadline deadline(parts_.clock, parts_.timeout);
    if (parts_.session.IsStale()) return LostFault("the server has ended the session");
    if (auto fault = parts_.session.Attach(*listening_, deadline)) return fault;
    auto heard = listening_->AwaitNotifications(kListenSlice);
    if (auto* fault = std::get_if<Fault>(&heard)) return std::move(*fault);
    Publish(std::get<0>(heard));
    return std::nullopt;
}

void ChangeNotices::Listen(const std::stop_token& stop) {
    int failures = 0;
    while (!stop.stop_requested()) {
        if (!listening_) {
            if (Subscribe()) {
                const Deadline deadline(parts_.clock, parts_.timeout);
                parts_.backoff.Wait(++failures, kConnectBackoff, deadline, stop);
                continue;
            }
            failures = 0;
            parts_.feed.Publish(store::Topics::All());
        }
        if (const auto fault = Hear()) {
            Log(LogLevel::kWarn, "no longer listening to other nodes",
                {{"reason", fault->error.message}});
            CloseListening();
        }
    }
    CloseListening();
}

void ChangeNotices::Publish(const std::vector<Connection::Notification>& notifications) {
    store::Topics topics;
    for (const auto& notification : notifications) topics |= TopicsOf(notification.payload, node_);
    parts_.feed.Publish(topics);
}

}  // namespace ksana::store_postgres
