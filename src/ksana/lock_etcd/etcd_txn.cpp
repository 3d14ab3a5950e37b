#include "ksana/lock_etcd/etcd_txn.hpp"

#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/lock_etcd/etcd_error.hpp"
#include "ksana/lock_etcd/lock_text.hpp"

namespace ksana::lock_etcd {
namespace {

void WriteReads(JsonOutput& out, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        out.BeginObject();
        out.Key("request_range");
        out.BeginObject();
        out.TextMember("key", ToBase64(key));
        out.EndObject();
        out.EndObject();
    }
}

void WritePut(JsonOutput& out, const EtcdTxn::Put& put) {
    out.BeginObject();
    out.Key("request_put");
    out.BeginObject();
    out.TextMember("key", ToBase64(put.key));
    out.TextMember("value", ToBase64(put.value));
    if (put.lease != 0) out.TextMember("lease", std::to_string(put.lease));
    out.EndObject();
    out.EndObject();
}

KeyValue ReadKeyValue(const codec::Json& json) {
    return {.value = FromBase64(json.TextAt("/value")).value_or(""),
            .revision = IntegerAt(json, "/mod_revision"),
            .lease = IntegerAt(json, "/lease")};
}

Error StrangeAnswer() {
    return Error(Code::kUnavailable, "etcd: a strange answer to a transaction");
}

}  // namespace

std::string EtcdTxn::Body() const {
    JsonOutput out;
    out.BeginObject();
    out.Key("compare");
    out.BeginArray();
    for (const Condition& condition : unchanged) {
        out.BeginObject();
        out.TextMember("key", ToBase64(condition.key));
        out.TextMember("target", "MOD");
        out.TextMember("result", "EQUAL");
        out.TextMember("mod_revision", std::to_string(condition.revision));
        out.EndObject();
    }
    out.EndArray();
    out.Key("success");
    out.BeginArray();
    for (const Put& put : puts) WritePut(out, put);
    if (unchanged.empty()) WriteReads(out, reads);
    out.EndArray();
    out.Key("failure");
    out.BeginArray();
    if (!unchanged.empty()) WriteReads(out, reads);
    out.EndArray();
    out.EndObject();
    return out.Take();
}

Result<EtcdTxnAnswer> ReadTxnAnswer(const EtcdTxn& txn, const codec::Json& json) {
    EtcdTxnAnswer answer{.succeeded = json.At("/succeeded").True(),
                         .revision = IntegerAt(json, "/header/revision"),
                         .read = {}};
    if (answer.revision <= 0) return StrangeAnswer();
    if (answer.succeeded && !txn.puts.empty()) return answer;
    for (const codec::Json& response : json.At("/responses").Items()) {
        const codec::Json range = response.At("/response_range");
        if (!range.IsObject()) return StrangeAnswer();
        answer.read.push_back(ReadKeyValue(range.At("/kvs/0")));
    }
    if (answer.read.size() != txn.reads.size()) return StrangeAnswer();
    return answer;
}

}  // namespace ksana::lock_etcd
