#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/calendar_import.hpp"
#include "ksana/engine/calendars/calendar_service.hpp"
#include "ksana/insight/preview/calendar_effect.hpp"
#include "ksana/insight/sources.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using engine::StoredCalendar;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using schedule::Calendar;

std::string CalendarText(const StoredCalendar& stored) {
    return codec::CalendarViewToJson(stored.calendar,
                                     {.version = stored.version, .updated_at = stored.updated_at});
}

std::string TagOf(const StoredCalendar& stored) {
    return DocumentTag(stored.version, CalendarText(stored));
}

Response CalendarChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the calendar is not what the condition asks for: read it "
                                      "again"});
}

// Returns whether If-Match and If-None-Match allow the change. `stored` is null if there is no
// calendar.
bool MayChange(const Request& request, const StoredCalendar* stored) {
    if (stored == nullptr) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    return IfMatch(request, stored->version, TagOf(*stored)) != MatchResult::kDiffers;
}

std::string SkippedText(const std::vector<codec::SkippedLine>& skipped) {
    std::vector<std::string> items;
    items.reserve(skipped.size());
    for (const codec::SkippedLine& one : skipped) {
        items.push_back(ObjectText()
                            .Put("line", static_cast<std::int64_t>(one.line))
                            .Put("reason", one.reason)
                            .Take());
    }
    return fmt::format("[{}]", fmt::join(items, ","));
}

// Handlers of calendars. The routes share one object; pool threads call it concurrently.
class CalendarHandlers {
  public:
    explicit CalendarHandlers(const std::shared_ptr<HandlerContext>& context)
        : context_(context),
          calendars_(context->services.calendars),
          store_(context->services.store) {}

    Result<Response> List(const Call& call) {
        api::QueryReader reader(call.request);
        store::ListParams params{.prefix = reader.Text("prefix"), .limit = kListSize, .cursor = {}};
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        const auto list = [&](std::size_t limit, const std::string& cursor) {
            params.limit = limit;
            params.cursor = cursor;
            return calendars_.List(params);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, CalendarText));
        return ListAnswer(call.request, context_->cursors, page);
    }

    Result<Response> Get(const Call& call) {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const StoredCalendar stored, calendars_.Get(NameOf(call)));
        return WithTag(call.request, JsonResponse(200, CalendarText(stored)), TagOf(stored));
    }

    Result<Response> Put(const Call& call) {
        KSANA_TRY(const Calendar given, codec::CalendarFromView(call.request.body, NameOf(call)));
        bool is_new = false;
        bool refused = false;
        const auto stored = calendars_.Change(
            NameOf(call),
            [&](const std::optional<StoredCalendar>& before) -> Result<Calendar> {
                is_new = !before;
                refused = !MayChange(call.request, before ? &*before : nullptr);
                if (refused) return Error(Code::kConflict, "refused");
                return given;
            },
            api::ActorOf(call.request));
        if (refused) return CalendarChanged412(call.request);
        if (!stored) return stored.error();
        Response response = JsonResponse(is_new ? 201 : 200, CalendarText(*stored));
        response.headers.emplace_back("ETag", TagOf(*stored));
        if (is_new) {
            response.headers.emplace_back("Location", "/api/v1/calendars/" + given.name);
        }
        return response;
    }

    Result<Response> Delete(const Call& call) {
        bool refused = false;
        const auto deleted = calendars_.Delete(
            NameOf(call),
            [&](const StoredCalendar& stored) -> Result<void> {
                refused = !MayChange(call.request, &stored);
                if (refused) return Error(Code::kConflict, "refused");
                return {};
            },
            api::ActorOf(call.request));
        if (refused) return CalendarChanged412(call.request);
        if (!deleted) return deleted.error();
        return http_server::NoContent();
    }

    Result<Response> Import(const Call& call) {
        KSANA_TRY(const codec::CalendarImport wish,
                  codec::CalendarImportFromJson(call.request.body));
        KSANA_TRY(const TimePoint now, store_.Now());
        const auto today =
            schedule::DateOf(std::chrono::floor<std::chrono::days>(now).time_since_epoch().count());
        KSANA_TRY(const codec::ImportedRules found, ReadImported(wish, today));
        CalendarChange change;
        const auto apply = [&](const std::optional<StoredCalendar>& before) -> Result<Calendar> {
            if (before && !before->fault.empty()) return Error(Code::kDataLoss, before->fault);
            change = ApplyImport(before ? before->calendar : Calendar(), wish, found.rules);
            change.calendar.name = NameOf(call);
            return change.calendar;
        };
        StoredCalendar shown;
        if (wish.dry_run) {
            KSANA_TRY(shown, OnlyAsked(NameOf(call), now, apply));
        } else {
            KSANA_TRY(shown, calendars_.Change(NameOf(call), apply, api::ActorOf(call.request)));
        }
        ObjectText text;
        text.Raw("calendar", CalendarText(shown)).Put("added", change.added);
        text.Put("removed", change.removed).Raw("skipped", SkippedText(found.skipped));
        text.Put("stored", !wish.dry_run);
        return JsonResponse(200, text.Take());
    }

    Result<Response> Preview(const Call& call) {
        KSANA_TRY(codec::CalendarQuestion question,
                  codec::CalendarQuestionFromJson(call.request.body));
        Calendar checked = question.calendar;
        if (checked.name.empty()) checked.name = "unnamed";
        auto problems = schedule::ValidateCalendar(checked);
        for (Problem& problem : problems) problem.path = "/calendar" + problem.path;
        if (!problems.empty()) return Error(std::move(problems));
        KSANA_TRY(const insight::CalendarEffect effect,
                  insight::PreviewCalendar(InsightSources(context_->services),
                                           {.calendar = std::move(question.calendar),
                                            .from = question.from,
                                            .days = question.days,
                                            .jobs = std::move(question.jobs)}));
        return JsonResponse(200, insight::CalendarEffectToJson(effect));
    }

  private:
    static const std::string& NameOf(const Call& call) { return call.request.Parameter("name"); }

    // Returns what a change would store, with the current version (0: there is no calendar). Stores
    // nothing.
    Result<StoredCalendar> OnlyAsked(const std::string& name, TimePoint now,
                                     const engine::CalendarService::Edit& edit) {
        std::optional<StoredCalendar> before;
        auto found = calendars_.Get(name);
        if (found) {
            before = *std::move(found);
        } else if (found.error().code != Code::kNotFound) {
            return found.error();
        }
        StoredCalendar after{.calendar = {},
                             .version = before ? before->version : 0,
                             .updated_at = before ? before->updated_at : now};
        KSANA_TRY(after.calendar, edit(before));
        if (auto problems = schedule::ValidateCalendar(after.calendar); !problems.empty()) {
            return Error(std::move(problems));
        }
        return after;
    }

    const std::shared_ptr<HandlerContext> context_;
    engine::CalendarService& calendars_;
    store::Store& store_;
};

constexpr Parameter kCalendarName{
    .name = "name", .means = "Name of a calendar.", .place = Place::kPath, .example = "cn"};
constexpr Parameter kListCalendarsParameters[] = {{"prefix", "Whose names begin so."}};

Schema MakeImported() {
    const Schema skipped = ObjectSchema("What became no rule.")
                               .Need("line", Schema::Int().Means("Of the text."))
                               .Need("reason", Schema::Text().Means("Why."));
    return ObjectSchema("What an import came to.")
        .Need("calendar", Schema::Ref(codec::kCalendarSchema))
        .Need("added", Schema::Int().Means("Rules that were added."))
        .Need("removed", Schema::Int().Means("Rules that were removed."))
        .Need("skipped", Schema::ListOf(skipped).AtMost(1000).Means("What became no rule."))
        .Need("stored", Schema::Flag().Means("false: a dry run."));
}

constexpr codec::NamedSchema kCalendarImported{"CalendarImported", &MakeImported};
constexpr codec::NamedSchema kCalendarPage{"CalendarPage", &MakePage<codec::kCalendarSchema>};

constexpr RouteInfo kListCalendars{.method = HttpMethod::kGet,
                                   .path = "/calendars",
                                   .permission = Permission::kRead,
                                   .id = "listCalendars",
                                   .tag = Tag::kCalendars,
                                   .summary = "Lists calendars",
                                   .parameters = kListCalendarsParameters,
                                   .paging = Paging::kPages,
                                   .answers = {{{200, "A page, by name.", &kCalendarPage}}}};

constexpr RouteInfo kPreviewCalendar{
    .method = HttpMethod::kPost,
    .path = "/calendars/preview",
    .permission = Permission::kRead,
    .id = "previewCalendar",
    .tag = Tag::kCalendars,
    .summary = "What a calendar would do, before it is saved",
    .more = "Changes nothing.",
    .body = &codec::kCalendarQuestionSchema,
    .answers = {{{200, "Its effect.", &insight::kCalendarEffectSchema}}}};

constexpr RouteInfo kGetCalendar{
    .method = HttpMethod::kGet,
    .path = "/calendars/{name}",
    .permission = Permission::kRead,
    .id = "getCalendar",
    .tag = Tag::kCalendars,
    .summary = "Shows a calendar",
    .subject = &kCalendarName,
    .answers = {{{200, "The calendar.", &codec::kCalendarSchema, kETag}}}};

constexpr RouteInfo kPutCalendar{
    .method = HttpMethod::kPut,
    .path = "/calendars/{name}",
    .permission = Permission::kWrite,
    .id = "putCalendar",
    .tag = Tag::kCalendars,
    .summary = "Makes or replaces a calendar",
    .more = "The jobs that use it fire by the new rules from now on.",
    .subject = &kCalendarName,
    .body = &codec::kCalendarDefinitionSchema,
    .answers = {{{200, "Replaced.", &codec::kCalendarSchema, kETag},
                 {201, "Made.", &codec::kCalendarSchema, kETag | kLocation}}},
    .makes_subject = true};

constexpr RouteInfo kDeleteCalendar{.method = HttpMethod::kDelete,
                                    .path = "/calendars/{name}",
                                    .permission = Permission::kWrite,
                                    .id = "deleteCalendar",
                                    .tag = Tag::kCalendars,
                                    .summary = "Deletes a calendar",
                                    .more = "Not while jobs use it.",
                                    .subject = &kCalendarName,
                                    .answers = {{{204, "Gone."}}}};

constexpr RouteInfo kImportCalendar{.method = HttpMethod::kPost,
                                    .path = "/calendars/{name}/import",
                                    .permission = Permission::kWrite,
                                    .id = "importCalendar",
                                    .tag = Tag::kCalendars,
                                    .summary = "Adds the days of an ICS or CSV text to a calendar",
                                    .more = "Makes the calendar where there is none.",
                                    .subject = &kCalendarName,
                                    .body = &codec::kCalendarImportSchema,
                                    .answers = {{{200, "What it came to.", &kCalendarImported}}},
                                    .makes_subject = true};

}  // namespace

void AddCalendarRoutes(http_server::Router& router,
                       const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<CalendarHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListCalendars, &CalendarHandlers::List);
    add(kGetCalendar, &CalendarHandlers::Get);
    add(kPutCalendar, &CalendarHandlers::Put);
    add(kDeleteCalendar, &CalendarHandlers::Delete);
    add(kImportCalendar, &CalendarHandlers::Import);
    add(kPreviewCalendar, &CalendarHandlers::Preview);
}

}  // namespace ksana::api
