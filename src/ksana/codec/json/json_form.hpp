#pragma once

#include <cstdint>

#include "ksana/codec/json/doc.hpp"

namespace ksana::codec {

// The same model is written for three readers.
enum class JsonForm : std::uint8_t {
    // People and programs that define jobs: some members are required, JSON inside stays JSON.
    kDefinition,
    // jobs.json: a definition without what has its default; "" stands for no time.
    kJobsFile,
    // A store: without what has its default, and every byte comes back as it was. JSON inside is
    // a string, and a text that is no UTF-8 is {"hex": "…"}.
    kRecord,
};

// Names the members of a structure once, for reading, for writing and for the description of the
// API. A specialisation has
//   template <class V> static void Visit(V& v);
// which calls, in the order of the text, each with a Doc as its last argument where the API shows
// the member:
//   v("key", &T::member)         a member that may be absent
//   v.Required("key", …)         must be there in a definition
//   v.Key("key", …)              must be there in a record, whatever it holds
//   v.Rare("key", …)             shown only where it has not its default
//   v.Json("key", …)             a text that is JSON itself
//   v.Flat(&T::part)             a part whose members stand among those of T
//   v.template Base<B>()         a base class whose members do
//   v.Choice<Kind>("key", …)     a variant: its kind, and a member named like the kind
//   v.Is(&T::kind, Kind::kOne)   whether the members of this kind are asked for; all in a record
//   v.form()
// and, where the API shows the structure,
//   static constexpr SchemaDoc kSchema;
template <class T>
struct FieldsOf;

template <class T>
concept HasFields = requires {
    sizeof(FieldsOf<T>);
};

}  // namespace ksana::codec
