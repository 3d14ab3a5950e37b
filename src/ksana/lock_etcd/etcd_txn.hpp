#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::lock_etcd {

// A key as etcd has it.
struct KeyValue {
    std::string value;
    std::int64_t revision = 0;  // of its last write; 0: there is no such key
    std::int64_t lease = 0;     // 0: none
};

// A transaction of etcd: if no key in `unchanged` was written since the revision given there,
// `puts` are carried out, else `reads` are answered. Without conditions and puts it only reads. A
// plain value.
struct EtcdTxn {
    struct Condition {
        std::string key;
        std::int64_t revision = 0;
    };
    struct Put {
        std::string key;
        std::string value;
        std::int64_t lease = 0;
    };

    std::vector<Condition> unchanged;
    std::vector<Put> puts;
    std::vector<std::string> reads;

    std::string Body() const;
};

struct EtcdTxnAnswer {
    bool succeeded = false;
    std::int64_t revision = 0;   // of the puts, if it succeeded
    std::vector<KeyValue> read;  // as asked for in `reads`; none if puts were carried out
};

// Returns kUnavailable for an answer that does not fit `txn`: it is not etcd that answers.
Result<EtcdTxnAnswer> ReadTxnAnswer(const EtcdTxn& txn, const codec::Json& json);

}  // namespace ksana::lock_etcd
