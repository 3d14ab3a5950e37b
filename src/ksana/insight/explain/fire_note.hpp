#pragma once

#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"

namespace ksana::insight {

// A fire as shown to users.
struct Fire {
    TimePoint at{};
    std::string local;  // in the schedule's zone: "Sun 2026-03-29 03:00:00 CEST"
    schedule::DstNote dst = schedule::DstNote::kNone;
    friend bool operator==(const Fire&, const Fire&) = default;
};

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::schedule::DstNote> {
    static constexpr std::array<std::string_view, 4> kNames = {"none", "after_gap", "first_pass",
                                                               "second_pass"};
};

template <>
struct ksana::codec::FieldsOf<ksana::insight::Fire> {
    static constexpr SchemaDoc kSchema{
        .name = "ShownFire", .means = "A nominal fire.", .answer = true};

    template <class V>
    static void Visit(V& v) {
        v("at", &insight::Fire::at, "Its time by the schedule.");
        v("local", &insight::Fire::local, "In the zone of the schedule.");
        v.Rare("dst", &insight::Fire::dst, "What a change of the clocks has to do with it.");
    }
};
