#include "ksana/broker_rabbitmq/wire/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/number_text.hpp"

namespace ksana::broker_rabbitmq {
namespace {

constexpr std::size_t kFrameOverhead = 8;  // type, channel, size, end
constexpr std::size_t kMethodIdBytes = 4;
constexpr std::size_t kContentHeaderBytes = 12;  // class, weight, size of the body
constexpr std::size_t kFirstFrameMax = 65'536;   // before the broker has said how much it takes
constexpr int kDeepest = 8;                      // tables in tables that are shown

void PutNumber(std::string& out, std::uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>(number >> shift & 0xFF);
    }
}

void BeginFrame(std::string& out, int type, amqp_channel_t channel, std::size_t payload) {
    PutNumber(out, static_cast<std::uint64_t>(type), 1);
    PutNumber(out, channel, 2);
    PutNumber(out, payload, 4);
}

void EndFrame(std::string& out) { out += static_cast<char>(AMQP_FRAME_END); }

Error Fault(Code code, std::string_view what, int status) {
    return {code, fmt::format("{}: {}", what, Librabbitmq().amqp_error_string2(status))};
}

// 12345 with a scale of 2 is 123.45.
std::string DecimalText(const amqp_decimal_t& decimal) {
    std::string text = std::to_string(decimal.value);
    if (decimal.decimals == 0) return text;
    const std::size_t digits = decimal.decimals;
    if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
    text.insert(text.size() - digits, 1, '.');
    return text;
}

void WriteValue(JsonOutput& out, const amqp_field_value_t& value, int depth);

void WriteTable(JsonOutput& out, const amqp_table_t& table, int depth) {
    out.BeginObject();
    for (int i = 0; i < table.num_entries; ++i) {
        out.Key(std::string(View(table.entries[i].key)));
        WriteValue(out, table.entries[i].value, depth);
    }
    out.EndObject();
}

void WriteValue(JsonOutput& out, const amqp_field_value_t& value, int depth) {
    switch (value.kind) {
        case AMQP_FIELD_KIND_BOOLEAN:
            return out.Bool(value.value.boolean != 0);
        case AMQP_FIELD_KIND_I8:
            return out.Int(value.value.i8);
        case AMQP_FIELD_KIND_U8:
            return out.Unsigned(value.value.u8);
        case AMQP_FIELD_KIND_I16:
            return out.Int(value.value.i16);
        case AMQP_FIELD_KIND_U16:
            return out.Unsigned(value.value.u16);
        case AMQP_FIELD_KIND_I32:
            return out.Int(value.value.i32);
        case AMQP_FIELD_KIND_U32:
            return out.Unsigned(value.value.u32);
        case AMQP_FIELD_KIND_I64:
            return out.Int(value.value.i64);
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_TIMESTAMP:
            return out.Unsigned(value.value.u64);
        case AMQP_FIELD_KIND_F32:
            return out.Double(static_cast<double>(value.value.f32));
        case AMQP_FIELD_KIND_F64:
            return out.Double(value.value.f64);
        case AMQP_FIELD_KIND_DECIMAL:
            return out.Raw(DecimalText(value.value.decimal));
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES:
            return out.PrintableText(View(value.value.bytes));
        case AMQP_FIELD_KIND_TABLE:
            if (depth == 0) return out.Null();
            return WriteTable(out, value.value.table, depth - 1);
        case AMQP_FIELD_KIND_ARRAY:
            if (depth == 0) return out.Null();
            out.BeginArray();
            for (int i = 0; i < value.value.array.num_entries; ++i) {
                WriteValue(out, value.value.array.entries[i], depth - 1);
            }
            return out.EndArray();
        default:
            return out.Null();
    }
}

std::string TextOf(const amqp_field_value_t& value) {
    if (value.kind == AMQP_FIELD_KIND_UTF8 || value.kind == AMQP_FIELD_KIND_BYTES) {
        return std::string(View(value.value.bytes));
    }
    if (value.kind == AMQP_FIELD_KIND_VOID) return {};
    JsonOutput out;
    WriteValue(out, value, kDeepest);
    return out.Take();
}

}  // namespace

amqp_bytes_t Bytes(std::string_view text) {
    return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}

std::string_view View(const amqp_bytes_t& bytes) {
    if (bytes.bytes == nullptr) return {};
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

amqp_table_entry_t TextEntry(std::string_view name, std::string_view value) {
    amqp_table_entry_t entry{};
    entry.key = Bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = Bytes(value);
    return entry;
}

TextMap TextsOf(const amqp_table_t& table) {
    TextMap texts;
    for (int i = 0; i < table.num_entries; ++i) {
        const amqp_table_entry_t& entry = table.entries[i];
        texts.Add(std::string(View(entry.key)), TextOf(entry.value));
    }
    return texts;
}

void Codec::Destroy::operator()(amqp_connection_state_t state) const {
    Librabbitmq().amqp_destroy_connection(state);
}

Result<Codec> Codec::Make() {
    Codec made;
    made.state_.reset(Librabbitmq().amqp_new_connection());
    if (made.state_ == nullptr) return Error(Code::kExhausted, "librabbitmq: no memory");
    made.scratch_.resize(kFirstFrameMax - kFrameOverhead);
    return made;
}

Result<void> Codec::SetFrameMax(int bytes) {
    const int status = Librabbitmq().amqp_tune_connection(state_.get(), 0, bytes, 0);
    if (status != AMQP_STATUS_OK) return Fault(Code::kExhausted, "frames", status);
    scratch_.resize(static_cast<std::size_t>(bytes) - kFrameOverhead);
    return {};
}

// Where a payload is written: some bytes of each kind of frame come before it.
amqp_bytes_t Codec::Scratch() {
    return {.len = scratch_.size() - kContentHeaderBytes, .bytes = scratch_.data()};
}

Result<void> Codec::Method(std::string& out, amqp_channel_t channel, amqp_method_number_t id,
                           void* method) {
    const int size = Librabbitmq().amqp_encode_method(id, method, Scratch());
    if (size < 0) return Fault(Code::kInvalidArgument, "a method does not fit into a frame", size);
    const auto length = static_cast<std::size_t>(size);
    BeginFrame(out, AMQP_FRAME_METHOD, channel, kMethodIdBytes + length);
    PutNumber(out, id, kMethodIdBytes);
    out.append(scratch_.data(), length);
    EndFrame(out);
    return {};
}

Result<void> Codec::Content(std::string& out, amqp_channel_t channel,
                            amqp_basic_properties_t& properties, std::string_view body) {
    const int size = Librabbitmq().amqp_encode_properties(AMQP_BASIC_CLASS, &properties, Scratch());
    if (size < 0) {
        return Fault(Code::kInvalidArgument, "the headers do not fit into a frame", size);
    }
    const auto length = static_cast<std::size_t>(size);
    BeginFrame(out, AMQP_FRAME_HEADER, channel, kContentHeaderBytes + length);
    PutNumber(out, AMQP_BASIC_CLASS, 2);
    PutNumber(out, 0, 2);
    PutNumber(out, body.size(), 8);
    out.append(scratch_.data(), length);
    EndFrame(out);
    while (!body.empty()) {
        const std::string_view part = body.substr(0, scratch_.size());
        BeginFrame(out, AMQP_FRAME_BODY, channel, part.size());
        out += part;
        EndFrame(out);
        body.remove_prefix(part.size());
    }
    return {};
}

void Codec::Heartbeat(std::string& out) {
    BeginFrame(out, AMQP_FRAME_HEARTBEAT, 0, 0);
    EndFrame(out);
}

Result<std::size_t> Codec::Decode(std::string_view bytes, amqp_frame_t& frame) {
    frame.frame_type = 0;
    const int taken = Librabbitmq().amqp_handle_input(state_.get(), Bytes(bytes), &frame);
    if (taken < 0) return Fault(Code::kUnavailable, "the broker sent what is no frame", taken);
    return static_cast<std::size_t>(taken);
}

void Codec::Release(amqp_channel_t channel) {
    Librabbitmq().amqp_maybe_release_buffers_on_channel(state_.get(), channel);
}

}  // namespace ksana::broker_rabbitmq
