#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/broker/broker.hpp"
#include "ksana/broker_rabbitmq/wire/codec.hpp"
#include "ksana/broker_rabbitmq/wire/transport.hpp"

// Private to the module, because it exposes librabbitmq.

namespace ksana::broker_rabbitmq {

// An AMQP connection: what channel 0 says, heartbeats, and frames of all channels. Everything that
// is sent is kept until the network takes it; only Next waits. For one thread at a time. After an
// error of Next it is of no use. The destructor says good-bye, and waits for the answer for a
// second at most.
class Connection {
    struct Key {};

  public:
    // What ends a Next besides a frame.
    struct Pause {
        SteadyPoint until;
        int wake = -1;         // a file that becomes readable
        bool or_room = false;  // there is room()
    };

    Connection(Key, const broker::BrokerUrl& url, const Clock& clock, Codec codec,
               std::unique_ptr<Transport> transport);

    // Connects and logs in. kPermissionDenied: the name, the password, or the rights to the virtual
    // host are wrong. `clock` must outlive the connection.
    static Result<std::unique_ptr<Connection>> Open(const broker::BrokerUrl& url,
                                                    const TlsContext* tls, const Clock& clock,
                                                    std::string_view purpose, SteadyPoint deadline);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Result<void> Send(amqp_channel_t channel, amqp_method_number_t id, void* method);
    // A message to a queue.
    Result<void> SendMessage(amqp_channel_t channel, amqp_basic_publish_t& method,
                             amqp_basic_properties_t& properties, std::string_view body);

    // Sends and reads what is possible without waiting, then waits for a frame of another channel
    // than 0 and returns it; nullptr: the pause is over. The frame is valid until the next call.
    Result<const amqp_frame_t*> Next(const Pause& pause);

    // Whether little waits to be sent: a caller with much to send is to wait for that.
    bool room() const;
    // Whether the broker takes no messages for now.
    bool blocked() const { return blocked_; }
    const Clock& clock() const { return clock_; }

  private:
    Result<void> Login(const broker::BrokerUrl& url, std::string_view purpose,
                       SteadyPoint deadline);
    Result<void> Start(const broker::BrokerUrl& url, std::string_view purpose,
                       SteadyPoint deadline);
    Result<void> Tune(const broker::BrokerUrl& url, SteadyPoint deadline);
    // Waits for a method of channel 0.
    Result<const amqp_method_t*> Await(amqp_method_number_t id, SteadyPoint deadline);
    // As Next, but also returns the methods of channel 0 that belong to the login.
    Result<const amqp_frame_t*> Step(const Pause& pause);
    // Takes a frame out of what has been read. Returns whether there was a whole one.
    Result<bool> Decode();
    // Whether the frame was for the connection alone.
    Result<bool> Obey();
    Error Closed(const amqp_connection_close_t& close);
    // Returns whether anything has arrived.
    Result<bool> Carry();
    Result<void> Beat(SteadyPoint now, bool has_read);
    void Goodbye();

    const std::string name_;
    const Clock& clock_;
    Codec codec_;
    const std::unique_ptr<Transport> transport_;
    std::string out_;
    std::size_t out_at_ = 0;  // before it, all is sent
    std::string in_;
    std::size_t in_at_ = 0;  // before it, all is decoded
    amqp_frame_t frame_{};
    bool frame_used_ = false;
    Duration heartbeat_;
    SteadyPoint last_sent_;
    SteadyPoint last_heard_;
    bool open_ = false;
    bool failed_ = false;
    bool blocked_ = false;
};

}  // namespace ksana::broker_rabbitmq
