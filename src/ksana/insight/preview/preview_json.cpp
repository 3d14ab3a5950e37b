#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/insight/preview/preview.hpp"

namespace ksana::codec {

inline constexpr auto kMostFires = static_cast<std::int64_t>(insight::kMaxPreviewFires);

template <>
struct FieldsOf<insight::PreviewFire> {
    static constexpr SchemaDoc kSchema{.answer = true};

    using Shown = insight::PreviewFire;

    template <class V>
    static void Visit(V& v) {
        v.Flat(&Shown::fire);
        v("start_at", &Shown::start_at, "With jitter, where the job is known.");
        v("start_until", &Shown::start_until, "With jitter it starts by then at the latest.");
        v("same_minute", &Shown::same_minute, "Other enabled jobs with a fire in the same minute.");
        v("same_second", &Shown::same_second, "Of those: in the same second.");
    }
};

template <>
struct FieldsOf<insight::ExcludedFire> {
    static constexpr SchemaDoc kSchema{.means = "A fire that the calendar takes away.",
                                       .answer = true};

    template <class V>
    static void Visit(V& v) {
        v.Flat(&insight::ExcludedFire::fire);
        v.Rare("rule", &insight::ExcludedFire::rule, "The rule of the calendar, in words.");
    }
};

template <>
struct FieldsOf<insight::PreviewWarning> {
    static constexpr SchemaDoc kSchema{.answer = true};

    template <class V>
    static void Visit(V& v) {
        v("kind", &insight::PreviewWarning::kind, "What is odd about the schedule.");
        v("text", &insight::PreviewWarning::text, "In words.");
    }
};

template <>
struct FieldsOf<insight::Preview> {
    static constexpr SchemaDoc kSchema{
        .name = "Preview", .means = "The coming fires of a schedule.", .answer = true};

    using Preview = insight::Preview;

    template <class V>
    static void Visit(V& v) {
        v("words", &Preview::words, "The schedule in words.");
        v("zone", &Preview::zone, "Time zone of the schedule.");
        v("from", &Preview::from, "Fires after this.");
        v("jitter", &Preview::jitter, "Each fire is delayed by up to this.");
        v("fires", &Preview::fires, Doc("The coming fires.").AtMost(kMostFires));
        v("excluded", &Preview::excluded, "Fires in between that the calendar takes away.");
        v("excluded_fires", &Preview::excluded_fires, Doc("The first of them.").AtMost(kMostFires));
        v("warnings", &Preview::warnings, "What is odd about the schedule.");
        v("compared_jobs", &Preview::compared_jobs, "Jobs whose fires were looked at.");
        v("compared_all", &Preview::compared_all,
          "false: there are more jobs than were looked at.");
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

const codec::NamedSchema kPreviewSchema = codec::kSchemaOf<Preview>;

std::string PreviewToJson(const Preview& preview) {
    return codec::FieldsToJson(preview, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
