#pragma once

#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/model/run/run_type.hpp"

// JSON members of a type of runs.

namespace ksana::codec {

template <>
struct FieldsOf<model::Callback> {
    static constexpr SchemaDoc kSchema{.name = "TypeCallback",
                                       .means = "A request that tells of the end of a run."};

    template <class V>
    static void Visit(V& v) {
        v.Required("url", &model::Callback::url, "Where the request goes.");
        v("method", &model::Callback::method, "The method of the request.");
    }
};

template <>
struct FieldsOf<model::Callbacks> {
    static constexpr SchemaDoc kSchema{.name = "TypeCallbacks",
                                       .means = "Who is told of the end of runs."};

    using Callbacks = model::Callbacks;

    template <class V>
    static void Visit(V& v) {
        v.Rare("success", &Callbacks::success, "After a success.");
        v.Rare("error", &Callbacks::error, "After any other end.");
        v("security", &Callbacks::security,
          "Whether requests are signed with the secret key (aksk).");
        v.Rare("access_key", &Callbacks::access_key, "Names the key to the receiver.");
        v.Rare("secret_key", &Callbacks::secret_key,
               "Never shown: an answer has *** in its place, and *** in a request keeps what is "
               "there.");
        v.Rare("previous_secret_key", &Callbacks::previous_secret_key,
               "Signs beside secret_key while receivers change over.");
    }
};

template <>
struct FieldsOf<model::RunType> {
    using RunType = model::RunType;

    template <class V>
    static void Visit(V& v) {
        v.Key("code", &RunType::code,
              "1 to 128 letters, digits and - _ . : of which no two types have the same.");
        v("name", &RunType::name, "What people call it.");
        v("category", &RunType::category, "Of its runs where they name none.");
        v("retry", &RunType::retry, "Absent: that of the server.");
        v("timeout", &RunType::timeout, "Of one attempt. Absent: that of the server.");
        v("need_manual", &RunType::need_manual,
          "Exhausted retries wait for a person (held) instead of failing.");
        v("callbacks", &RunType::callbacks, "Who is told of the end of its runs.");
        if (v.form() == JsonForm::kRecord) VisitBookkeeping(v);
    }

    // Members that the server keeps.
    template <class V>
    static void VisitBookkeeping(V& v) {
        v("created_at", &RunType::created_at, "When it was made.");
        v("updated_at", &RunType::updated_at, "When it was changed.");
    }
};

}  // namespace ksana::codec
