#include "ksana/api/events/event_streams.hpp"

#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

using http_server::Stream;

class EventStreamsTest : public V1Fixture {
  protected:
    using Listener = std::shared_ptr<Stream>;

    Listener Open(EventRequest wish = {}) {
        auto stream = events_.Open(std::move(wish));
        EXPECT_TRUE(stream) << stream.error().Describe();
        events_.RunOnce();
        return stream ? *stream : nullptr;
    }
    // Returns what the stream was sent since the last call.
    std::string Told(const Listener& listener) {
        events_.RunOnce();
        return listener->Take().text;
    }
    std::size_t Named(const std::string& text, const std::string& name) {
        std::size_t count = 0;
        const std::string line = "\nevent: " + name + "\n";
        for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; ++at) ++count;
        return count;
    }
    void EndOneRun(const std::string& job_id) {
        const std::string id = TextOf(Post("/jobs/" + job_id + "/run"), "id");
        EXPECT_EQ(Post("/runs/" + id + "/cancel").status, 200);
        clock_.Advance(std::chrono::milliseconds(300));
    }
};

TEST_F(EventStreamsTest, ANewListenerHearsWhatComes) {
    Make("before");
    const Listener listener = Open();
    EXPECT_EQ(Told(listener), "retry: 3000\nid: 1\n\n");
    Make("j");
    const std::string told = Told(listener);
    EXPECT_TRUE(
        told.starts_with("id: 2\nevent: job.created\ndata: {\"source\":\"audit\",\"seq\":2,"))
        << told;
    EXPECT_TRUE(told.ends_with("}\n\n"));
    EXPECT_EQ(Told(listener), "") << "nothing new";
}

TEST_F(EventStreamsTest, GoesOnAfterAnId) {
    for (const char* id : {"a", "b", "c"}) Make(id);
    const std::string all = Told(Open({.after = 0, .types = {}, .job_id = ""}));
    EXPECT_EQ(Named(all, "job.created"), 3U) << all;
    const std::string rest = Told(Open({.after = 2, .types = {}, .job_id = ""}));
    EXPECT_EQ(Named(rest, "job.created"), 1U) << rest;
    EXPECT_EQ(Named(rest, "gap"), 0U);
    EXPECT_NE(rest.find("id: 3\n"), std::string::npos);
}

TEST_F(EventStreamsTest, SaysWhatItCannotTellAnyMore) {
    for (const char* id : {"a", "b", "c"}) Make(id);
    clock_.Advance(std::chrono::hours(1));
    ASSERT_TRUE(store_->events().Purge(clock_.Now(), 100));
    Make("d");
    const std::string told = Told(Open({.after = 1, .types = {}, .job_id = ""}));
    EXPECT_EQ(Named(told, "gap"), 1U) << told;
    EXPECT_NE(told.find(R"({"reason":"too_old","after":1,"next":4})"), std::string::npos) << told;
    EXPECT_LT(told.find("event: gap"), told.find("job.created"));
    const Listener stranger = Open({.after = 77, .types = {}, .job_id = ""});
    const std::string unknown = Told(stranger);
    EXPECT_NE(unknown.find(R"("reason":"unknown_id")"), std::string::npos) << unknown;
    Make("e");
    const std::string next = Told(stranger);
    EXPECT_EQ(Named(next, "job.created"), 1U) << "it goes on from the newest event\n" << next;
    EXPECT_EQ(Named(next, "gap"), 0U) << next;
    EXPECT_EQ(Named(Told(Open({.after = 3, .types = {}, .job_id = ""})), "gap"), 0U);
}

TEST_F(EventStreamsTest, TellsTheEndsOfRuns) {
    Make("j");
    const Listener listener = Open({.after = {}, .types = {"run"}, .job_id = ""});
    Told(listener);
    EndOneRun("j");
    const std::string told = Told(listener);
    EXPECT_EQ(Named(told, "run.cancelled"), 2U) << "who did it, and what became of it\n" << told;
    EXPECT_NE(told.find(R"("source":"run","run":{"id":")"), std::string::npos) << told;
    clock_.Advance(std::chrono::seconds(6));
    EXPECT_EQ(Told(listener), "") << "once";
}

TEST_F(EventStreamsTest, Filters) {
    Make("a");
    Make("b");
    const Listener runs = Open({.after = 0, .types = {"run"}, .job_id = ""});
    const Listener of_a = Open({.after = 0, .types = {}, .job_id = "a"});
    const std::string first = Told(of_a);
    EXPECT_EQ(Named(first, "job.created"), 1U) << first;
    Told(runs);
    EndOneRun("b");
    EXPECT_EQ(Told(of_a), "");
    EXPECT_EQ(Named(Told(runs), "run.cancelled"), 2U);
    EndOneRun("a");
    EXPECT_EQ(Named(Told(of_a), "run.cancelled"), 2U);
}

TEST_F(EventStreamsTest, SaysThatItIsStillThere) {
    const Listener listener = Open();
    Told(listener);
    clock_.Advance(std::chrono::seconds(14));
    EXPECT_EQ(Told(listener), "");
    clock_.Advance(std::chrono::seconds(1));
    EXPECT_EQ(Told(listener), ": still here\n\n");
    EXPECT_EQ(Told(listener), "");
    clock_.Advance(std::chrono::seconds(15));
    EXPECT_EQ(Told(listener), ": still here\n\n");
}

TEST_F(EventStreamsTest, ASlowListenerLosesNoAuditEvent) {
    EventStreams small(*store_, clock_,
                       {.max_streams = 10,
                        .buffer = 2'000,
                        .comment_every = std::chrono::seconds(15),
                        .run_look_every = Duration(1),
                        .hole_patience = {}});
    auto slow = *small.Open({});
    small.RunOnce();
    for (int i = 0; i < 50; ++i) Make("j" + std::to_string(i));
    std::string told;
    for (int i = 0; i < 200; ++i) {
        small.RunOnce();
        EXPECT_LE(told.size(), 50U * 1'000);
        told += slow->Take().text;
    }
    EXPECT_EQ(Named(told, "job.created"), 50U);
    EXPECT_EQ(Named(told, "gap"), 0U);
    for (int i = 0; i < 20; ++i) {
        EndOneRun("j1");
        small.RunOnce();
    }
    told.clear();
    for (int i = 0; i < 200; ++i) {
        small.RunOnce();
        told += slow->Take().text;
    }
    EXPECT_EQ(Named(told, "gap"), 1U) << "ends of runs were left out\n" << told;
    EXPECT_NE(told.find("too_slow"), std::string::npos);
    EXPECT_EQ(Named(told, "job.run_now"), 20U);
}

TEST_F(EventStreamsTest, HolesAreWaitedForWhereTheyMayFill) {
    EventStreams patient(*store_, clock_,
                         {.max_streams = 10,
                          .buffer = 100'000,
                          .comment_every = std::chrono::hours(1),
                          .run_look_every = Duration(1),
                          .hole_patience = std::chrono::seconds(2)});
    Make("a");
    auto listener = *patient.Open({});
    patient.RunOnce();
    listener->Take();
    const auto add = [&](std::int64_t seq) {
        model::AuditEvent event;
        event.seq = seq;
        event.at = clock_.Now();
        event.action = "created";
        event.resource_type = "job";
        ASSERT_TRUE(store_->records().Add({event}));
    };
    add(3);
    patient.RunOnce();
    EXPECT_EQ(listener->Take().text, "") << "2 may be on its way";
    add(2);
    patient.RunOnce();
    const std::string told = listener->Take().text;
    EXPECT_LT(told.find("id: 2\n"), told.find("id: 3\n")) << told;
    add(5);
    patient.RunOnce();
    EXPECT_EQ(listener->Take().text, "");
    clock_.Advance(std::chrono::seconds(2));
    patient.RunOnce();
    EXPECT_NE(listener->Take().text.find("id: 5\n"), std::string::npos) << "4 was given up";
}

TEST_F(EventStreamsTest, StreamsAreBoundedAndLetGo) {
    EventStreams small(*store_, clock_,
                       {.max_streams = 2,
                        .buffer = 1'000,
                        .comment_every = std::chrono::seconds(15),
                        .run_look_every = Duration(1),
                        .hole_patience = {}});
    auto first = *small.Open({});
    auto second = *small.Open({});
    EXPECT_EQ(small.Open({}).error().code, Code::kExhausted);
    first->Abandon();
    small.RunOnce();
    auto third = small.Open({});
    EXPECT_TRUE(third);
    second.reset();  // dropped before a client reads it
    small.RunOnce();
    EXPECT_TRUE(small.Open({}));
    small.Stop();
    EXPECT_TRUE((*third)->Take().last);
    EXPECT_EQ(small.Open({}).error().code, Code::kUnavailable);
}

TEST_F(EventStreamsTest, NoClientTakesTheStreamsOfOthers) {
    EventStreams small(*store_, clock_,
                       {.max_streams = 3,
                        .max_streams_of_client = 2,
                        .buffer = 1'000,
                        .comment_every = std::chrono::seconds(15),
                        .run_look_every = Duration(1),
                        .hole_patience = {}});
    EventRequest greedy;
    greedy.client = "anyone@10.0.0.1";
    EventRequest other;
    other.client = "anyone@10.0.0.2";
    auto first = *small.Open(greedy);
    auto second = *small.Open(greedy);
    EXPECT_EQ(small.Open(greedy).error().code, Code::kExhausted);
    auto third = small.Open(other);
    EXPECT_TRUE(third);
    first->Abandon();
    small.RunOnce();
    EXPECT_TRUE(small.Open(greedy)) << "its share is free again";
}

TEST_F(EventStreamsTest, RunsByItself) {
    ASSERT_TRUE(events_.Start());
    auto stream = *events_.Open({});
    stream->Take();
    std::mutex mutex;
    std::condition_variable changed;
    bool told = false;
    stream->Attach([&] {
        const std::lock_guard lock(mutex);
        told = true;
        changed.notify_all();
    });
    Make("j");
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return told; }));
    lock.unlock();
    events_.Stop();
    EXPECT_TRUE(stream->over());
}

TEST_F(EventStreamsTest, ItsRouteChecksWhatIsAsked) {
    const Response answer = Get("/events?types=job,run&job_id=j&after=0");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.content_type, "text/event-stream");
    ASSERT_TRUE(answer.stream);
    EXPECT_EQ(Get("/events?types=jobs").status, 400);
    for (const char* type : {"backfill", "calendar", "group", "limit", "alert", "type"}) {
        EXPECT_EQ(Get(std::string("/events?after=0&types=") + type).status, 200) << type;
    }
    EXPECT_EQ(Get("/events?after=x").status, 400);
    EXPECT_EQ(Get("/events?after=-1").status, 400);
    EXPECT_EQ(Get("/events?aftre=1").status, 400);
    EXPECT_EQ(Get("/events", {{"Last-Event-ID", "x"}}).status, 400);
    Make("a");
    Make("b");
    const Response later = Get("/events?after=0", {{"Last-Event-ID", "1"}});
    ASSERT_TRUE(later.stream);
    EXPECT_EQ(Named(Told(later.stream), "job.created"), 1U) << "the header is the newer word";
}

}  // namespace
}  // namespace ksana::api
