// Types, workers, locks, settings, audit events, the change feed, and export with import.
#include <atomic>

#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;

// T-06
TEST_P(StoreTest, Types) {
    model::RunType type{.code = "mail", .name = "Mail", .category = "bulk", .need_manual = true};
    type.callbacks.success.url = "http://x/";
    auto first = store().types().Put({.type = type, .expected = 0});
    ASSERT_TRUE(first) << first.error().Describe();
    EXPECT_EQ(first->version, 1);
    EXPECT_EQ(store().types().Put({.type = type, .expected = 0}).error().code,
              Code::kAlreadyExists);
    EXPECT_EQ(store().types().Put({.type = type, .expected = 7}).error().code, Code::kConflict);
    type.name = "E-mail";
    EXPECT_EQ(store().types().Put({.type = type, .expected = 1})->version, 2);
    EXPECT_EQ(store().types().Put({.type = type})->version, 3);
    EXPECT_EQ(store().types().Get("mail")->value, type);
    EXPECT_EQ(store().types().Get("mai").error().code, Code::kNotFound);
    for (const char* code : {"a", "b", "c"}) {
        ASSERT_TRUE(store().types().Put({.type = {.code = code}}));
    }
    auto page = store().types().List({.limit = 3});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->items.size(), 3U);
    EXPECT_EQ(page->items[0].code, "a");
    auto rest = store().types().List({.limit = 3, .cursor = page->next});
    ASSERT_TRUE(rest);
    ASSERT_EQ(rest->items.size(), 1U);
    EXPECT_EQ(rest->items[0].code, "mail");
    EXPECT_EQ(store().types().Delete({.code = "mail", .expected = 1}).error().code,
              Code::kConflict);
    EXPECT_TRUE(store().types().Delete({.code = "mail", .expected = 3}));
    EXPECT_EQ(store().types().Delete({.code = "mail"}).error().code, Code::kNotFound);
}

// D-05
TEST_P(StoreTest, Workers) {
    model::Worker worker{.id = "w1", .incarnation = ids_.Next(), .host = "h", .types = {"a"}};
    auto registered = store().workers().Register(worker, now_);
    ASSERT_TRUE(registered);
    EXPECT_EQ(registered->registered_at, now_);
    const auto beat = [&](const Uuid& incarnation, TimePoint at) {
        return store().workers().Beat(
            {.worker_id = "w1", .incarnation = incarnation, .busy = 3, .now = at});
    };
    EXPECT_EQ(beat(worker.incarnation, now_ + seconds(30))->busy, 3);
    EXPECT_EQ(beat(worker.incarnation, now_ + seconds(10))->last_heartbeat_at, now_ + seconds(30))
        << "a late one changes no time";
    EXPECT_EQ(store().workers().Beat({.worker_id = "w9"}).error().code, Code::kNotFound);
    // A restarted worker takes the id over; the old incarnation learns of it.
    model::Worker next = worker;
    next.incarnation = ids_.Next();
    ASSERT_TRUE(store().workers().Register(next, now_ + minutes(1)));
    EXPECT_EQ(beat(worker.incarnation, now_ + minutes(1)).error().code, Code::kLeaseLost);
    EXPECT_EQ(store().workers().Deregister("w1", worker.incarnation).error().code,
              Code::kLeaseLost);
    ASSERT_TRUE(store().workers().Deregister("w1", next.incarnation));
    EXPECT_TRUE(store().workers().Get("w1")->deregistered);
    EXPECT_EQ(store().workers().List({})->items.size(), 1U);
    EXPECT_TRUE(store().workers().Forget("w1"));
    EXPECT_EQ(store().workers().Get("w1").error().code, Code::kNotFound);
}

// G-06, N-11: free after release and after its time to live; the fence only grows.
TEST_P(StoreTest, Locks) {
    auto& locks = store().locks();
    const auto params = [&](const char* owner) {
        return store::LockParams{
            .name = "job:x", .owner = owner, .ttl = seconds(30), .now = now_, .stamp = {}};
    };
    const auto take = [&](const char* owner) { return *locks.TryAcquire(params(owner)); };
    const auto release = [&](const char* owner, std::int64_t fence) {
        const auto released = locks.Release(params(owner), fence);
        return released ? Code::kInternal : released.error().code;
    };
    const auto first = take("a");
    ASSERT_TRUE(first.granted);
    EXPECT_EQ(first.lock.fence, 1);
    EXPECT_EQ(first.lock.until, now_ + seconds(30));
    EXPECT_FALSE(take("b").granted);
    EXPECT_EQ(take("b").lock.owner, "a") << "a refusal tells the holder";
    EXPECT_EQ(take("a").lock.fence, 2) << "its holder gets it again, under a new fence";
    EXPECT_EQ(locks.Renew(params("a"), 1).error().code, Code::kLeaseLost);
    now_ += seconds(20);
    EXPECT_EQ(locks.Renew(params("a"), 2)->until, now_ + seconds(30));
    now_ += seconds(30);
    EXPECT_EQ(release("a", 2), Code::kLeaseLost) << "its time has passed";
    const auto second = take("b");
    ASSERT_TRUE(second.granted) << "its time has passed";
    EXPECT_EQ(second.lock.fence, 3);
    EXPECT_EQ(locks.Renew(params("a"), 2).error().code, Code::kLeaseLost);
    EXPECT_EQ(release("a", 2), Code::kLeaseLost);
    EXPECT_EQ(release("a", 3), Code::kLeaseLost) << "not its owner";
    EXPECT_FALSE(take("a").granted) << "a late release frees nothing";
    ASSERT_TRUE(locks.Release(params("b"), 3));
    EXPECT_EQ(take("a").lock.fence, 4);
    EXPECT_EQ(locks.Release({.name = "never", .owner = "a"}, 1).error().code, Code::kLeaseLost);
    EXPECT_EQ(locks.List({})->items.size(), 1U);
}

TEST_P(StoreTest, StampsOfLocks) {
    auto& locks = store().locks();
    const auto take = [&](const char* owner, std::optional<std::int64_t> stamp) {
        return *locks.TryAcquire(
            {.name = "s", .owner = owner, .ttl = seconds(30), .now = now_, .stamp = stamp});
    };
    EXPECT_FALSE(take("a", {}).lock.stamp);
    EXPECT_EQ(take("a", 5).lock.stamp, 5);
    EXPECT_FALSE(take("a", 5).granted) << "not even to its holder";
    EXPECT_FALSE(take("b", 6).granted) << "it is held";
    const auto last = take("a", {});
    EXPECT_TRUE(last.granted);
    EXPECT_EQ(last.lock.stamp, 5) << "stays";
    ASSERT_TRUE(locks.Release({.name = "s", .owner = "a", .now = now_}, last.lock.fence));
    EXPECT_FALSE(take("b", 5).granted);
    EXPECT_EQ(take("b", 4).lock.stamp, 5) << "a refusal tells it";
    EXPECT_TRUE(take("b", 6).granted);
    now_ += seconds(30);
    EXPECT_FALSE(take("a", 6).granted) << "also after its time";
    EXPECT_TRUE(take("a", 7).granted);
}

TEST_P(StoreTest, Settings) {
    auto& settings = store().settings();
    const TimePoint now = *store().Now();
    EXPECT_EQ(settings.Put({.key = "a/1", .value = "1", .expected = 0})->version, 1);
    EXPECT_EQ(settings.Put({.key = "a/1", .value = "2", .expected = 0}).error().code,
              Code::kAlreadyExists);
    EXPECT_EQ(settings.Put({.key = "a/1", .value = "2", .expected = 1})->version, 2);
    ASSERT_TRUE(settings.Put({.key = "a", .value = "0"}));
    ASSERT_TRUE(settings.Put({.key = "a_1", .value = "%"}));
    ASSERT_TRUE(settings.Put({.key = "b/1", .value = "3"}));
    EXPECT_EQ(settings.Get("a")->body, "0");
    EXPECT_EQ(settings.Get("a/1")->body, "2");
    EXPECT_EQ(settings.Get("a/").error().code, Code::kNotFound);
    EXPECT_EQ(settings.List({.prefix = "a/"})->items.size(), 1U) << "no wildcards in prefixes";
    EXPECT_EQ(settings.List({.prefix = "a_"})->items.size(), 1U);
    EXPECT_EQ(settings.List({})->items.size(), 4U);
    // An expired value is absent, and a new one may be created.
    ASSERT_TRUE(settings.Put({.key = "e", .value = "x", .expires_at = now - seconds(1)}));
    EXPECT_EQ(settings.Get("e").error().code, Code::kNotFound);
    EXPECT_EQ(settings.List({})->items.size(), 4U);
    EXPECT_EQ(*settings.PurgeExpired(10), 1U);
    EXPECT_EQ(*settings.PurgeExpired(10), 0U);
    ASSERT_TRUE(settings.Put({.key = "e", .value = "y", .expected = 0}));
    EXPECT_EQ(settings.Put({.key = "", .value = "y"}).error().code, Code::kInvalidArgument);
    EXPECT_TRUE(settings.Delete("e", std::nullopt));
    EXPECT_EQ(settings.Delete("e", std::nullopt).error().code, Code::kNotFound);
}

// G-15: by user, resource, action and time, in pages.
TEST_P(StoreTest, Events) {
    std::vector<model::AuditEvent> batch;
    for (int i = 0; i < 20; ++i) {
        batch.push_back({.at = now_ + seconds(i),
                         .tenant = i == 3 ? "acme" : "default",
                         .action = i % 2 == 0 ? "created" : "deleted",
                         .user = i % 5 == 0 ? "ann" : "bob",
                         .resource_type = i < 10 ? "job" : "run",
                         .resource_id = "r" + std::to_string(i),
                         .old_object = "{}",
                         .new_object = R"({"a":1})",
                         .data = "[]",
                         .client_ip = "::1",
                         .method = "POST"});
    }
    ASSERT_TRUE(store().events().Append(batch));
    const auto count = [&](store::EventFilter filter) {
        std::size_t found = 0;
        store::EventQuery query{.filter = std::move(filter), .limit = 3};
        std::int64_t last = INT64_MAX;
        for (;;) {
            auto page = store().events().List(query);
            EXPECT_TRUE(page) << page.error().Describe();
            for (const auto& event : page->items) {
                EXPECT_LT(event.seq, last);
                last = event.seq;
            }
            found += page->items.size();
            if (page->next.empty()) return found;
            query.cursor = page->next;
        }
    };
    EXPECT_EQ(count({}), 20U);
    EXPECT_EQ(count({.user = "ann"}), 4U);
    EXPECT_EQ(count({.action = "created"}), 10U);
    EXPECT_EQ(count({.resource_type = "job"}), 10U);
    EXPECT_EQ(count({.resource_type = "job", .resource_id = "r7"}), 1U);
    EXPECT_EQ(count({.tenant = "acme"}), 1U);
    EXPECT_EQ(count({.from = now_ + seconds(5), .until = now_ + seconds(8)}), 3U);
    EXPECT_EQ(count({.user = "ann", .action = "created"}), 2U);
    auto oldest = store().events().List({.descending = false, .limit = 2});
    ASSERT_TRUE(oldest);
    ASSERT_EQ(oldest->items.size(), 2U);
    batch[0].seq = oldest->items[0].seq;
    EXPECT_EQ(oldest->items[0], batch[0]);
    EXPECT_GT(oldest->items[1].seq, oldest->items[0].seq);
    EXPECT_EQ(*store().events().Purge(now_ + seconds(5), 3), 3U);
    EXPECT_EQ(*store().events().Purge(now_ + seconds(5), 10), 2U);
    EXPECT_EQ(count({}), 15U);
}

// A listener is called after a commit with the topics that it touched, and no others.
TEST_P(StoreTest, TheChangeFeedTells) {
    using store::Topic;
    std::atomic<std::uint32_t> told = 0;
    auto subscription = store().changes().Subscribe(
        store::Topics::All(), [&](store::Topics topics) { told |= topics.bits(); });
    const auto during = [&](const std::function<void()>& what) {
        told = 0;
        what();
        return store::Topics::FromBits(told);
    };
    EXPECT_TRUE(during([&] { Create(MakeJob("j")); }).Has(Topic::kJobs));
    Run call = MakeRun();
    call.kind = model::ActionKind::kHttp;
    EXPECT_EQ(during([&] { SubmitOne(call); }), store::Topics(Topic::kReady));
    EXPECT_EQ(during([&] { SubmitOne(MakeRun()); }), store::Topics(Topic::kTasks));
    Run run;
    EXPECT_EQ(during([&] { run = ClaimOne(); }), store::Topics());
    EXPECT_TRUE(during([&] { Apply(run.id, {.kind = EventKind::kCancel}); }).Has(Topic::kCancel));
    EXPECT_TRUE(during([&] { Report(run, EventKind::kSuccess); }).Has(Topic::kFinished));
    EXPECT_TRUE(during([&] {
                    (void)store().settings().Put({.key = "a", .value = "1"});
                }).Has(Topic::kDocuments));
    EXPECT_TRUE(during([&] { (void)store().events().Append({{}}); }).Has(Topic::kEvents));
    EXPECT_EQ(during([&] { (void)Write(MakeJob("j")); }), store::Topics())
        << "what failed touched nothing";
    subscription = {};
    EXPECT_EQ(during([&] { SubmitOne(MakeRun()); }), store::Topics());
}

// Promise 3: every record is read, and added to another store, unchanged.
TEST_P(StoreTest, EverythingMoves) {
    Fill();
    const auto records = ReadAll(store());
    const auto counts = *store().records().Counts();
    EXPECT_EQ(counts.jobs, 5);
    EXPECT_EQ(counts.runs, 9);
    EXPECT_EQ(counts.attempts, 1);
    EXPECT_EQ(counts.ledger, 5);
    EXPECT_EQ(counts.events, 2);
    EXPECT_EQ(counts.documents, 5);
    EXPECT_EQ(records.size(), 27U);

    const auto other = GetParam().make();
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->store().records().Add(records));
    EXPECT_EQ(*other->store().records().Counts(), counts);
    EXPECT_EQ(ReadAll(other->store()), records);
    EXPECT_EQ(other->store().records().Add({records.back()}).error().code, Code::kAlreadyExists);
    // The copy is alive: keys are held, leases run, new seqs follow the old ones.
    Run keyed = MakeRun();
    keyed.unique.key = "k";
    EXPECT_EQ(other->store().runs().Submit({.now = now_, .runs = {keyed}})->at(0).verdict,
              store::SubmitVerdict::kSameKey);
    EXPECT_EQ(other->store().runs().Reap({.now = now_ + minutes(5)})->runs.size(), 2U);
    ASSERT_TRUE(other->store().events().Append({{.action = "c"}}));
    EXPECT_EQ(other->store().events().List({.limit = 1})->items.at(0).action, "c");
    EXPECT_EQ(other->store().records().Counts()->events, 3);
}

// Everything that was acknowledged is there after a reopen.
TEST_P(StoreTest, EverythingSurvivesAReopen) {
    Fill();
    const auto before = ReadAll(store());
    if (!harness_->Reopen()) return;
    EXPECT_EQ(ReadAll(store()), before);
    Run keyed = MakeRun();
    keyed.unique.key = "k";
    EXPECT_EQ(Submit({keyed})[0].verdict, store::SubmitVerdict::kSameKey);
    EXPECT_FALSE(Claim(10, {.kind = model::ActionKind::kHttp}).empty());
    ASSERT_TRUE(store().events().Append({{.action = "c"}}));
    EXPECT_EQ(store().events().List({.limit = 1})->items.at(0).action, "c");
}

TEST_P(StoreTest, TheStoreHasAClockAndAName) {
    const TimePoint first = *store().Now();
    EXPECT_LE(first, *store().Now());
    EXPECT_FALSE(store().Info()->driver.empty());
    auto outcome = runs().Submit({.runs = {MakeRun()}});
    ASSERT_TRUE(outcome);
    EXPECT_GE(Read(outcome->at(0).id).run.created_at, first) << "no time given: the store's own";
}

}  // namespace
}  // namespace ksana::conformance
