#pragma once

#include "ksana/codec/json_form.hpp"
#include "ksana/model/limit.hpp"

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

}  // namespace ksana::codec
