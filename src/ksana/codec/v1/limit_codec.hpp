#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<model::Rate> {
    static constexpr SchemaDoc kSchema{.name = "Rate",
                                       .means =
                                           "So many starts in a time, evenly apart; up to burst at "
                                           "once after a silence. null: no limit."};

    template <class V>
    static void Visit(V& v) {
        v.Required("count", &model::Rate::count, Doc("Starts.").Between(1, 1'000'000));
        v.Required("per", &model::Rate::per, "In this time.");
        v("burst", &model::Rate::burst,
          Doc("So many at once after a silence.").Between(1, 1'000'000));
    }
};

// Schemas of a member whose null means no limit.
Schema MakeConcurrency();
Schema MakeRate();

template <>
struct FieldsOf<model::Limit> {
    static constexpr SchemaDoc kSchema{
        .name = "Limit",
        .means = "What may be under way at once and started in a time. null: no limit.",
        .example = R"({"max_concurrency": 2, "rate": {"count": 10, "per": "1s"}})"};

    template <class V>
    static void Visit(V& v) {
        v.Rare("description", &model::Limit::description, Doc("What it is for.").AtMost(4000));
        v("max_concurrency", &model::Limit::max_concurrency,
          Doc("Attempts at once.").Between(1, 1'000'000).As(&MakeConcurrency));
        v("rate", &model::Limit::rate, Doc("Starts in a time.").As(&MakeRate));
    }
};

// {"description": "…", "max_concurrency": 2, "rate": {"count": 100, "per": "1m", "burst": 5}}: the
// form of requests and of the store. Every fault has its JSON Pointer; values are checked as well.
std::string LimitToJson(const model::Limit& limit);
Result<model::Limit> LimitFromJson(std::string_view text);

extern const NamedSchema kLimitSchema;

}  // namespace ksana::codec
