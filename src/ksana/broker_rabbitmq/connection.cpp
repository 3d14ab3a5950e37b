#include "ksana/broker_rabbitmq/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/utf8.hpp"

namespace ksana::broker_rabbitmq {
namespace {

constexpr std::size_t kRoom = 256 * 1024;
constexpr int kFrameMax = 131'072;
constexpr int kProtocolHeader = 'A';  // librabbitmq: the broker answered with its own version
constexpr std::string_view kProtocol("AMQP\x00\x00\x09\x01", 8);
constexpr Duration kGoodbye = std::chrono::seconds(1);

// Removes what is done from the front, at times: each removal moves the rest.
void Trim(std::string& bytes, std::size_t& done) {
    if (done < bytes.size() && done < kRoom) return;
    bytes.erase(0, done);
    done = 0;
}

amqp_table_entry_t YesEntry(std::string_view name) {
    amqp_table_entry_t entry{};
    entry.key = Bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

}  // namespace

Connection::Connection(Key, const broker::BrokerUrl& url, const Clock& clock, Codec codec,
                       std::unique_ptr<Transport> transport)
    : name_(url.name()),
      clock_(clock),
      codec_(std::move(codec)),
      transport_(std::move(transport)),
      heartbeat_(url.heartbeat),
      last_sent_(clock.SteadyNow()),
      last_heard_(last_sent_) {}

Connection::~Connection() { Goodbye(); }

Result<std::unique_ptr<Connection>> Connection::Open(const broker::BrokerUrl& url,
                                                     const TlsContext* tls, const Clock& clock,
                                                     std::string_view purpose,
                                                     SteadyPoint deadline) {
    KSANA_TRY(Codec codec, Codec::Make());
    auto transport = Transport::Connect(url, tls, clock, deadline);
    if (!transport) return std::move(transport).error().WithContext(url.name());
    auto made =
        std::make_unique<Connection>(Key(), url, clock, std::move(codec), *std::move(transport));
    auto done = made->Login(url, purpose, deadline);
    if (!done) return std::move(done).error().WithContext(url.name());
    return made;
}

Result<void> Connection::Login(const broker::BrokerUrl& url, std::string_view purpose,
                               SteadyPoint deadline) {
    out_ = kProtocol;
    KSANA_TRY_VOID(Start(url, purpose, deadline));
    KSANA_TRY_VOID(Tune(url, deadline));
    amqp_connection_open_t open{};
    open.virtual_host = Bytes(url.vhost);
    KSANA_TRY_VOID(Send(0, AMQP_CONNECTION_OPEN_METHOD, &open));
    KSANA_TRY_VOID(Await(AMQP_CONNECTION_OPEN_OK_METHOD, deadline));
    open_ = true;
    return {};
}

Result<void> Connection::Start(const broker::BrokerUrl& url, std::string_view purpose,
                               SteadyPoint deadline) {
    KSANA_TRY(const amqp_method_t* const start, Await(AMQP_CONNECTION_START_METHOD, deadline));
    const auto* const offer = static_cast<const amqp_connection_start_t*>(start->decoded);
    const std::string mechanisms = fmt::format(" {} ", View(offer->mechanisms));
    if (mechanisms.find(" PLAIN ") == std::string::npos) {
        return Error(Code::kPermissionDenied, "the broker takes no name and password (PLAIN)");
    }
    // What the broker tells us instead of hanging up or keeping silent.
    std::array<amqp_table_entry_t, 5> capabilities = {
        YesEntry("authentication_failure_close"), YesEntry("basic.nack"),
        YesEntry("connection.blocked"), YesEntry("consumer_cancel_notify"),
        YesEntry("publisher_confirms")};
    std::array<amqp_table_entry_t, 3> entries = {
        TextEntry("product", "ksana"), TextEntry("connection_name", purpose), {}};
    entries[2].key = Bytes("capabilities");
    entries[2].value.kind = AMQP_FIELD_KIND_TABLE;
    entries[2].value.value.table = {.num_entries = capabilities.size(),
                                    .entries = capabilities.data()};
    std::string secret;
    for (const std::string& part : {url.user, url.password}) {
        secret += '\0';
        secret += part;
    }
    amqp_connection_start_ok_t answer{};
    answer.client_properties = {.num_entries = entries.size(), .entries = entries.data()};
    answer.mechanism = Bytes("PLAIN");
    answer.response = Bytes(secret);
    answer.locale = Bytes("en_US");
    return Send(0, AMQP_CONNECTION_START_OK_METHOD, &answer);
}

Result<void> Connection::Tune(const broker::BrokerUrl& url, SteadyPoint deadline) {
    KSANA_TRY(const amqp_method_t* const tune, Await(AMQP_CONNECTION_TUNE_METHOD, deadline));
    const auto* const offer = static_cast<const amqp_connection_tune_t*>(tune->decoded);
    amqp_connection_tune_ok_t answer{};
    answer.channel_max = 2;
    const auto frame_max = static_cast<int>(std::min<std::uint32_t>(offer->frame_max, kFrameMax));
    answer.frame_max = static_cast<std::uint32_t>(frame_max == 0 ? kFrameMax : frame_max);
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(url.heartbeat).count();
    if (offer->heartbeat != 0) seconds = std::min<std::int64_t>(seconds, offer->heartbeat);
    answer.heartbeat = static_cast<std::uint16_t>(seconds);
    heartbeat_ = std::chrono::seconds(seconds);
    KSANA_TRY_VOID(Send(0, AMQP_CONNECTION_TUNE_OK_METHOD, &answer));
    // Not before the answer is encoded: `offer` goes with the buffers.
    return codec_.SetFrameMax(static_cast<int>(answer.frame_max));
}

Result<const amqp_method_t*> Connection::Await(amqp_method_number_t id, SteadyPoint deadline) {
    for (;;) {
        KSANA_TRY(const amqp_frame_t* const frame, Step({.until = deadline}));
        if (frame == nullptr) return NoAnswer();
        if (frame->channel == 0 && frame->frame_type == AMQP_FRAME_METHOD &&
            frame->payload.method.id == id) {
            return &frame->payload.method;
        }
    }
}

Result<void> Connection::Send(amqp_channel_t channel, amqp_method_number_t id, void* method) {
    return codec_.Method(out_, channel, id, method);
}

Result<void> Connection::SendMessage(amqp_channel_t channel, amqp_basic_publish_t& method,
                                     amqp_basic_properties_t& properties, std::string_view body) {
    const std::size_t before = out_.size();
    KSANA_TRY_VOID(codec_.Method(out_, channel, AMQP_BASIC_PUBLISH_METHOD, &method));
    auto appended = codec_.Content(out_, channel, properties, body);
    if (!appended) out_.resize(before);  // a message without its content would be the next one's
    return appended;
}

bool Connection::room() const { return out_.size() - out_at_ < kRoom; }

Result<const amqp_frame_t*> Connection::Next(const Pause& pause) {
    for (;;) {
        auto frame = Step(pause);
        if (!frame) {
            failed_ = true;
            return std::move(frame).error().WithContext(name_);
        }
        if (*frame == nullptr || (*frame)->channel != 0) return frame;
    }
}

Result<const amqp_frame_t*> Connection::Step(const Pause& pause) {
    for (;;) {
        KSANA_TRY(const bool decoded, Decode());
        if (decoded) {
            KSANA_TRY(const bool mine, Obey());
            if (mine) continue;
            return &frame_;
        }
        KSANA_TRY(const bool has_read, Carry());
        const SteadyPoint now = clock_.SteadyNow();
        KSANA_TRY_VOID(Beat(now, has_read));
        if (has_read) continue;
        if (now >= pause.until || (pause.or_room && room())) return nullptr;
        // A quarter: a heartbeat goes out every half of its time.
        const SteadyPoint until = std::min<SteadyPoint>(pause.until, now + heartbeat_ / 4);
        if (transport_->Wait(out_at_ < out_.size(), pause.wake, MillisecondsUntil(until, clock_))) {
            return nullptr;
        }
    }
}

Result<bool> Connection::Decode() {
    if (frame_used_) {
        codec_.Release(frame_.channel);
        frame_used_ = false;
    }
    while (in_at_ < in_.size()) {
        KSANA_TRY(const std::size_t taken,
                  codec_.Decode(std::string_view(in_).substr(in_at_), frame_));
        in_at_ += taken;
        if (frame_.frame_type == 0) continue;
        frame_used_ = true;
        return true;
    }
    Trim(in_, in_at_);
    return false;
}

Result<bool> Connection::Obey() {
    if (frame_.frame_type == kProtocolHeader) {
        return Error(Code::kUnavailable, "the broker speaks another version of AMQP than 0-9-1");
    }
    if (frame_.frame_type == AMQP_FRAME_HEARTBEAT) return true;
    if (frame_.frame_type != AMQP_FRAME_METHOD || frame_.channel != 0) return false;
    switch (frame_.payload.method.id) {
        case AMQP_CONNECTION_CLOSE_METHOD:
            return Closed(
                *static_cast<const amqp_connection_close_t*>(frame_.payload.method.decoded));
        case AMQP_CONNECTION_BLOCKED_METHOD:
            blocked_ = true;
            return true;
        case AMQP_CONNECTION_UNBLOCKED_METHOD:
            blocked_ = false;
            return true;
        default:
            return false;
    }
}

Error Connection::Closed(const amqp_connection_close_t& close) {
    const bool refused =
        !open_ && (close.reply_code == AMQP_ACCESS_REFUSED || close.reply_code == AMQP_NOT_ALLOWED);
    Error why(refused ? Code::kPermissionDenied : Code::kUnavailable,
              fmt::format("the broker closed the connection: {} {}", close.reply_code,
                          Excerpt(View(close.reply_text), 500)));
    open_ = false;
    // The broker waits for the answer; whether it arrives does not matter.
    amqp_connection_close_ok_t answer{};
    if (Send(0, AMQP_CONNECTION_CLOSE_OK_METHOD, &answer)) (void)Carry();
    return why;
}

Result<bool> Connection::Carry() {
    if (out_at_ < out_.size()) {
        KSANA_TRY(const std::size_t sent,
                  transport_->Write(std::string_view(out_).substr(out_at_)));
        if (sent > 0) last_sent_ = clock_.SteadyNow();
        out_at_ += sent;
        Trim(out_, out_at_);
    } else {
        KSANA_TRY_VOID(transport_->Write({}));
    }
    KSANA_TRY(const bool has_read, transport_->Read(in_));
    if (has_read) last_heard_ = clock_.SteadyNow();
    return has_read;
}

// Silence counts only if nothing waits to be read: the owner may have been busy elsewhere.
Result<void> Connection::Beat(SteadyPoint now, bool has_read) {
    if (!has_read && now - last_heard_ > 2 * heartbeat_) {
        return Error(Code::kUnavailable, "the broker is silent: no heartbeat has come");
    }
    if (now - last_sent_ < heartbeat_ / 2 || out_at_ < out_.size()) return {};
    last_sent_ = now;
    Codec::Heartbeat(out_);
    KSANA_TRY(out_at_, transport_->Write(out_));
    return {};
}

// A broker that has blocked the connection does not read.
void Connection::Goodbye() {
    if (!open_ || failed_ || blocked_) return;
    amqp_connection_close_t close{};
    close.reply_code = AMQP_REPLY_SUCCESS;
    if (!Send(0, AMQP_CONNECTION_CLOSE_METHOD, &close)) return;
    (void)Await(AMQP_CONNECTION_CLOSE_OK_METHOD, clock_.SteadyNow() + kGoodbye);
}

}  // namespace ksana::broker_rabbitmq
