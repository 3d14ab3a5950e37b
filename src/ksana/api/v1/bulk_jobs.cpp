#include "ksana/api/v1/bulk_jobs.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <vector>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::api {
namespace {

constexpr std::size_t kBulkPage = 200;

Result<store::JobFilter> FilterOf(const codec::BulkRequest& wish, bool enabled) {
    store::JobFilter filter;
    filter.tenant = wish.tenant;
    filter.group = wish.group;
    filter.owner = wish.owner;
    filter.kind = wish.type;
    filter.type = wish.queue_type;
    filter.labels = wish.labels;
    filter.text = wish.q;
    filter.enabled = !enabled;
    const bool narrow = !wish.tenant.empty() || !wish.group.empty() || !wish.owner.empty() ||
                        wish.type || !wish.queue_type.empty() || !wish.labels.empty() ||
                        !wish.q.empty();
    if (!narrow && !wish.all) {
        return Error(std::vector<Problem>{
            {"", "name a group or another filter, or say \"all\": true", "missing", {}}});
    }
    if (narrow && wish.all) {
        return Error(std::vector<Problem>{{"/all", "does not go with a filter"}});
    }
    return filter;
}

std::string JsonArray(const std::vector<std::string>& items) {
    return fmt::format("[{}]", fmt::join(items, ","));
}

codec::Schema MakeBulkOutcome() {
    using codec::ObjectSchema;
    using codec::Schema;
    const Schema failed = ObjectSchema()
                              .Need("id", Schema::Text().Means("Id of the job."))
                              .Need("code", Schema::Text().Means("As that of a problem."))
                              .Need("detail", Schema::Text().Means("Why, in words."));
    return ObjectSchema("Which jobs were changed, and which could not be.")
        .Need("changed_count", Schema::Int()
                                   .Between(0, static_cast<std::int64_t>(kMaxBulk + kBulkPage))
                                   .Means("How many were changed."))
        .Need("changed", Schema::ListOf(Schema::Text())
                             .Means("Ids. Jobs that were so already are not among them."))
        .Need("failed", Schema::ListOf(failed).Means("Jobs that could not be changed."))
        .Need("more", Schema::Flag().Means(
                          "A request changes about a thousand jobs at most: send it again."));
}

}  // namespace

const codec::NamedSchema kBulkOutcomeSchema{"BulkOutcome", &MakeBulkOutcome};

Result<std::string> SetEnabled(engine::JobService& context, store::Store& store,
                               const codec::BulkRequest& wish, bool enabled,
                               const engine::Actor& by) {
    store::JobQuery query;
    KSANA_TRY(query.filter, FilterOf(wish, enabled));
    query.limit = kBulkPage;
    std::vector<std::string> changed;
    std::vector<std::string> failed;
    bool more = true;
    while (more && changed.size() + failed.size() < kMaxBulk) {
        KSANA_TRY(const store::Page<model::Job> page, store.jobs().List(query));
        for (const model::Job& job : page.items) {
            const auto now =
                enabled ? context.Resume(job.id, by) : context.Pause(job.id, wish.reason, by);
            if (now) {
                changed.push_back(codec::TextToJson(job.id));
            } else if (now.error().code != Code::kNotFound) {  // deleted meanwhile: no failure
                failed.push_back(ObjectText()
                                     .Put("id", job.id)
                                     .Put("code", Info(now.error().code).name)
                                     .Put("detail", now.error().Describe())
                                     .Take());
            }
        }
        query.cursor = page.next;
        more = !page.next.empty();
    }
    return ObjectText()
        .Put("changed_count", static_cast<std::int64_t>(changed.size()))
        .Raw("changed", JsonArray(changed))
        .Raw("failed", JsonArray(failed))
        .Put("more", more)
        .Take();
}

}  // namespace ksana::api
