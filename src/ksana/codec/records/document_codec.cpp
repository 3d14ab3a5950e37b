#include "ksana/codec/records/document_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/v1/type_fields.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<model::Worker> {
    using Worker = model::Worker;

    template <class V>
    static void Visit(V& v) {
        v.Key("id", &Worker::id);
        v("incarnation", &Worker::incarnation);
        v("host", &Worker::host);
        v("version", &Worker::version);
        v("kinds", &Worker::kinds);
        v("types", &Worker::types);
        v("labels", &Worker::labels);
        v("slots", &Worker::slots);
        v("busy", &Worker::busy);
        v("draining", &Worker::draining);
        v("drain_requested", &Worker::drain_requested);
        v("deregistered", &Worker::deregistered);
        v("agent", &Worker::agent);
        v("reaped", &Worker::reaped);
        v("replaced", &Worker::replaced);
        v("registered_at", &Worker::registered_at);
        v("last_heartbeat_at", &Worker::last_heartbeat_at);
    }
};

template <>
struct FieldsOf<model::ServerNode> {
    using ServerNode = model::ServerNode;

    template <class V>
    static void Visit(V& v) {
        v.Key("name", &ServerNode::name);
        v("incarnation", &ServerNode::incarnation);
        v("address", &ServerNode::address);
        v("version", &ServerNode::version);
        v("slots", &ServerNode::slots);
        v("busy", &ServerNode::busy);
        v("lease", &ServerNode::lease);
        v("stopping", &ServerNode::stopping);
        v("down", &ServerNode::down);
        v("gone", &ServerNode::gone);
        v("started_at", &ServerNode::started_at);
        v("heartbeat_at", &ServerNode::heartbeat_at);
    }
};

template <>
struct FieldsOf<model::Lock> {
    template <class V>
    static void Visit(V& v) {
        v.Key("name", &model::Lock::name);
        v("owner", &model::Lock::owner);
        v("fence", &model::Lock::fence);
        v("until", &model::Lock::until);
        v("stamp", &model::Lock::stamp);
    }
};

namespace {

template <class T>
std::string ToJson(const T& in) {
    return FieldsToJson(in, JsonForm::kRecord);
}

template <class T>
Result<T> FromJson(std::string_view text) {
    return ReadDocument<T>(
        text, JsonForm::kRecord, {.bytes = text.size()},
        [](JsonReader& reader, const Node& node, T& out) { reader.Read(node, out); });
}

}  // namespace

std::string RunTypeToJson(const model::RunType& type) { return ToJson(type); }
Result<model::RunType> RunTypeFromJson(std::string_view text) {
    return FromJson<model::RunType>(text);
}

std::string WorkerToJson(const model::Worker& worker) { return ToJson(worker); }
Result<model::Worker> WorkerFromJson(std::string_view text) {
    return FromJson<model::Worker>(text);
}

std::string NodeToJson(const model::ServerNode& node) { return ToJson(node); }
Result<model::ServerNode> NodeFromJson(std::string_view text) {
    return ReadDocument<model::ServerNode>(
        text, JsonForm::kRecord, {.bytes = text.size()},
        [](JsonReader& reader, const Node& node, model::ServerNode& out) {
            ObjectReader object(reader, node);
            FieldReader<model::ServerNode> fields(object, out);
            FieldsOf<model::ServerNode>::Visit(fields);
        });
}

std::string LockToJson(const model::Lock& lock) { return ToJson(lock); }
Result<model::Lock> LockFromJson(std::string_view text) { return FromJson<model::Lock>(text); }

}  // namespace ksana::codec
