#pragma once

#include <cstdint>

#include "ksana/codec/json/doc.hpp"

namespace ksana::codec {

// The JSON forms of the model, by their reader.
enum class JsonForm : std::uint8_t {
    // Users and programs that define jobs: some members are required, and JSON inside stays JSON.
    kDefinition,
    // jobs.json: a definition without members that have their default; "" means no time. A text
    // that is not UTF-8 is {"hex": "…"}.
    kJobsFile,
    // A store: without members that have their default, and every byte comes back as it was. JSON
    // inside is a string, and a text that is not UTF-8 is {"hex": "…"}.
    kRecord,
};

// Lists the members of a structure once, for reading, for writing and for the description of the
// API. A specialisation has
//   template <class V> static void Visit(V& v);
// which makes these calls, in the order of the text, with a Doc as last argument where the API
// shows the member:
//   v("key", &T::member)         a member that may be absent
//   v.Required("key", …)         required, except in a record
//   v.Key("key", …)              required and always written in a record
//   v.Rare("key", …)             written only if it differs from its default
//   v.Json("key", …)             a text that is JSON itself
//   v.Flat(&T::part)             a part whose members are written among those of T
//   v.template Base<B>()         a base class, likewise
//   v.Choice<Kind>("key", …)     a variant: its kind, and a member named like the kind
//   v.Is(&T::kind, Kind::kOne)   whether members of this kind are visited; in a record all are
//   v.form()
// and, if the API shows the structure,
//   static constexpr SchemaDoc kSchema;
template <class T>
struct FieldsOf;

template <class T>
concept HasFields = requires {
    sizeof(FieldsOf<T>);
};

}  // namespace ksana::codec
