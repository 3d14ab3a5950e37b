// What RabbitMQ and librabbitmq can do without a scheduler: one connection publishes persistent
// messages with confirms, another consumes and acknowledges them. Prints one JSON line.
//   ksana_broker_bare URL COUNT BYTES
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <fmt/core.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker_url.hpp"

namespace ksana::bench {
namespace {

constexpr amqp_channel_t kChannel = 1;
constexpr const char* kQueue = "bare";
constexpr std::uint64_t kWindow = 500;  // unconfirmed messages, and unacknowledged deliveries
constexpr std::uint64_t kAckEvery = 100;
constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};

[[noreturn]] void Fail(const char* what) {
    fmt::print(stderr, "{} failed\n", what);
    std::exit(1);
}

void Check(const amqp_rpc_reply_t& reply, const char* what) {
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) Fail(what);
}

class Connection {
  public:
    explicit Connection(const broker::BrokerUrl& url) : state_(amqp_new_connection()) {
        amqp_socket_t* const socket = amqp_tcp_socket_new(state_);
        if (amqp_socket_open(socket, url.host.c_str(), url.port) != AMQP_STATUS_OK) Fail("connect");
        Check(amqp_login(state_, url.vhost.c_str(), 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN,
                         url.user.c_str(), url.password.c_str()),
              "login");
        amqp_channel_open(state_, kChannel);
        Check(amqp_get_rpc_reply(state_), "open a channel");
    }
    ~Connection() {
        amqp_connection_close(state_, AMQP_REPLY_SUCCESS);
        amqp_destroy_connection(state_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    amqp_connection_state_t state() const { return state_; }

  private:
    const amqp_connection_state_t state_;
};

// Waits for one confirm and returns how many messages are confirmed by now.
std::uint64_t AwaitConfirm(amqp_connection_state_t state) {
    amqp_frame_t frame;
    if (amqp_simple_wait_frame_noblock(state, &frame, &kPatience) != AMQP_STATUS_OK) {
        Fail("confirm");
    }
    if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
        Fail("confirm");
    }
    const auto* const ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
    amqp_maybe_release_buffers(state);
    return ack->delivery_tag;
}

void Publish(const broker::BrokerUrl& url, std::uint64_t count, std::size_t bytes) {
    const Connection connection(url);
    amqp_connection_state_t const state = connection.state();
    amqp_confirm_select(state, kChannel);
    Check(amqp_get_rpc_reply(state), "confirm.select");
    std::string body(bytes, 'x');
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_PRIORITY_FLAG;
    properties.delivery_mode = 2;
    properties.priority = 5;
    // Confirms may come out of order one by one, so a window is filled and then awaited to its end.
    for (std::uint64_t sent = 0; sent < count;) {
        const std::uint64_t end = std::min(count, sent + kWindow);
        const std::uint64_t wanted = end - sent;
        for (; sent < end; ++sent) {
            if (amqp_basic_publish(state, kChannel, amqp_empty_bytes, amqp_cstring_bytes(kQueue), 1,
                                   0, &properties,
                                   {.len = body.size(), .bytes = body.data()}) != AMQP_STATUS_OK) {
                Fail("publish");
            }
        }
        std::uint64_t confirmed = 0;
        while (confirmed < wanted) {
            confirmed = std::max(confirmed, AwaitConfirm(state) - (end - wanted));
        }
    }
}

void Consume(const Connection& connection, std::uint64_t count) {
    amqp_connection_state_t const state = connection.state();
    for (std::uint64_t seen = 1; seen <= count; ++seen) {
        amqp_envelope_t envelope;
        amqp_maybe_release_buffers(state);
        Check(amqp_consume_message(state, &envelope, &kPatience, 0), "consume");
        if (seen % kAckEvery == 0 || seen == count) {
            amqp_basic_ack(state, kChannel, envelope.delivery_tag, 1);
        }
        amqp_destroy_envelope(&envelope);
    }
}

int Main(const char* text, std::uint64_t count, std::size_t bytes) {
    const auto url = broker::ParseBrokerUrl(text);
    if (!url) Fail("the URL");
    Connection consumer(*url);
    // As the queues of tasks are declared.
    amqp_table_entry_t priority{};
    priority.key = amqp_cstring_bytes("x-max-priority");
    priority.value.kind = AMQP_FIELD_KIND_I32;
    priority.value.value.i32 = 9;
    amqp_queue_declare(consumer.state(), kChannel, amqp_cstring_bytes(kQueue), 0, 1, 0, 0,
                       {.num_entries = 1, .entries = &priority});
    Check(amqp_get_rpc_reply(consumer.state()), "declare");
    amqp_basic_qos(consumer.state(), kChannel, 0, kWindow, 0);
    amqp_basic_consume(consumer.state(), kChannel, amqp_cstring_bytes(kQueue), amqp_empty_bytes, 0,
                       0, 0, amqp_empty_table);
    Check(amqp_get_rpc_reply(consumer.state()), "consume");
    const SystemClock clock;
    const SteadyPoint start = clock.SteadyNow();
    std::jthread publisher([&] { Publish(*url, count, bytes); });
    Consume(consumer, count);
    publisher.join();
    const std::chrono::duration<double> took = clock.SteadyNow() - start;
    fmt::print("{{\"per_second\": {:.1f}, \"count\": {}}}\n",
               static_cast<double>(count) / took.count(), count);
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: ksana_broker_bare URL COUNT BYTES\n");
        return 2;
    }
    return ksana::bench::Main(argv[1], std::strtoull(argv[2], nullptr, 10),
                              std::strtoull(argv[3], nullptr, 10));
}
