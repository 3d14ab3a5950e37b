#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<model::Rate> {
    template <class V>
    static void Visit(V& v) {
        v.Required("count", &model::Rate::count);
        v.Required("per", &model::Rate::per);
        v("burst", &model::Rate::burst);
    }
};

template <>
struct FieldsOf<model::Limit> {
    template <class V>
    static void Visit(V& v) {
        v.Rare("description", &model::Limit::description);
        v("max_concurrency", &model::Limit::max_concurrency);
        v("rate", &model::Limit::rate);
    }
};

// {"description": "…", "max_concurrency": 2, "rate": {"count": 100, "per": "1m", "burst": 5}}: what
// people write, and what is stored. Every fault has its JSON Pointer; the values are checked, too.
std::string LimitToJson(const model::Limit& limit);
Result<model::Limit> LimitFromJson(std::string_view text);

}  // namespace ksana::codec
