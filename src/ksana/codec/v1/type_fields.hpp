#pragma once

#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/model/run/run_type.hpp"

// The members of a type of runs, as they are called in JSON.

namespace ksana::codec {

template <>
struct FieldsOf<model::Callback> {
    template <class V>
    static void Visit(V& v) {
        v.Required("url", &model::Callback::url);
        v("method", &model::Callback::method);
    }
};

template <>
struct FieldsOf<model::Callbacks> {
    using Callbacks = model::Callbacks;

    template <class V>
    static void Visit(V& v) {
        v.Rare("success", &Callbacks::success);
        v.Rare("error", &Callbacks::error);
        v("security", &Callbacks::security);
        v.Rare("access_key", &Callbacks::access_key);
        v.Rare("secret_key", &Callbacks::secret_key);
        v.Rare("previous_secret_key", &Callbacks::previous_secret_key);
    }
};

template <>
struct FieldsOf<model::RunType> {
    using RunType = model::RunType;

    template <class V>
    static void Visit(V& v) {
        v.Key("code", &RunType::code);
        v("name", &RunType::name);
        v("category", &RunType::category);
        v("retry", &RunType::retry);
        v("timeout", &RunType::timeout);
        v("need_manual", &RunType::need_manual);
        v("callbacks", &RunType::callbacks);
        if (v.form() == JsonForm::kRecord) VisitBookkeeping(v);
    }

    // What the server keeps.
    template <class V>
    static void VisitBookkeeping(V& v) {
        v("created_at", &RunType::created_at);
        v("updated_at", &RunType::updated_at);
    }
};

}  // namespace ksana::codec
