#include "ksana/codec/json/value_writer.hpp"
#include "ksana/insight/preview/preview.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<insight::PreviewFire> {
    using Shown = insight::PreviewFire;

    template <class V>
    static void Visit(V& v) {
        v.Flat(&Shown::fire);
        v("start_at", &Shown::start_at);
        v("start_until", &Shown::start_until);
        v("same_minute", &Shown::same_minute);
        v("same_second", &Shown::same_second);
    }
};

template <>
struct FieldsOf<insight::ExcludedFire> {
    template <class V>
    static void Visit(V& v) {
        v.Flat(&insight::ExcludedFire::fire);
        v.Rare("rule", &insight::ExcludedFire::rule);
    }
};

template <>
struct FieldsOf<insight::PreviewWarning> {
    template <class V>
    static void Visit(V& v) {
        v("kind", &insight::PreviewWarning::kind);
        v("text", &insight::PreviewWarning::text);
    }
};

template <>
struct FieldsOf<insight::Preview> {
    using Preview = insight::Preview;

    template <class V>
    static void Visit(V& v) {
        v("words", &Preview::words);
        v("zone", &Preview::zone);
        v("from", &Preview::from);
        v("jitter", &Preview::jitter);
        v("fires", &Preview::fires);
        v("excluded", &Preview::excluded);
        v("excluded_fires", &Preview::excluded_fires);
        v("warnings", &Preview::warnings);
        v("compared_jobs", &Preview::compared_jobs);
        v("compared_all", &Preview::compared_all);
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

std::string PreviewToJson(const Preview& preview) {
    return codec::FieldsToJson(preview, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
