#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/text/text_map.hpp"
#include "ksana/broker_rabbitmq/wire/librabbitmq.hpp"

// Private to the module, because it exposes librabbitmq.

namespace ksana::broker_rabbitmq {

// librabbitmq's view of a text, which it does not change and does not keep.
amqp_bytes_t Bytes(std::string_view text);
std::string_view View(const amqp_bytes_t& bytes);

// An entry of a table; name and value must outlive it.
amqp_table_entry_t TextEntry(std::string_view name, std::string_view value);

// A table with all its values as texts: numbers in decimal, tables and arrays as JSON.
TextMap TextsOf(const amqp_table_t& table);

// Writes and reads the frames of one connection. For one thread at a time.
class Codec {
  public:
    static Result<Codec> Make();

    // The largest frame, as agreed with the broker. Only while no frame is begun: after Decode has
    // completed one. (librabbitmq aborts otherwise.)
    Result<void> SetFrameMax(int bytes);

    // Append frames to `out`. kInvalidArgument: what does not fit into a frame; nothing is
    // appended.
    Result<void> Method(std::string& out, amqp_channel_t channel, amqp_method_number_t id,
                        void* method);
    Result<void> Content(std::string& out, amqp_channel_t channel,
                         amqp_basic_properties_t& properties, std::string_view body);
    static void Heartbeat(std::string& out);

    // Takes bytes from the front and returns how many. `frame` is what they completed; its type is
    // 0 if there is none yet. It stays valid until Release.
    Result<std::size_t> Decode(std::string_view bytes, amqp_frame_t& frame);
    void Release(amqp_channel_t channel);

  private:
    struct Destroy {
        void operator()(amqp_connection_state_t state) const;
    };

    Codec() = default;

    amqp_bytes_t Scratch();

    std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
    std::vector<char> scratch_;  // of the size of the largest payload
};

}  // namespace ksana::broker_rabbitmq
