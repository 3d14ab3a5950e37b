#include <gtest/gtest.h>

#include <set>

#include "api_v1/v1_fixture.hpp"
#include "ksana/api/edge/cursors.hpp"
#include "ksana/api/edge/list_answer.hpp"

namespace ksana::api {
namespace {

using api::HeaderOf;
using Ids = std::vector<std::string>;

class V1ListTest : public V1Fixture {
  protected:
    // Returns the target of the Link header after /api/v1, or "".
    static std::string NextOf(const Response& page) {
        const std::string link = HeaderOf(page, "Link");
        if (link.empty()) return "";
        EXPECT_TRUE(link.starts_with("</api/v1/") && link.ends_with(">; rel=\"next\"")) << link;
        return link.substr(8, link.find('>') - 8);
    }

    Ids Walk(std::string target) {
        Ids seen;
        while (!target.empty()) {
            const Response page = Get(target);
            EXPECT_EQ(page.status, 200) << target << page.body;
            const Ids ids = IdsOf(page);
            seen.insert(seen.end(), ids.begin(), ids.end());
            target = NextOf(page);
            EXPECT_EQ(Has(page, R"("next_cursor":null)"), target.empty());
        }
        return seen;
    }
};

TEST_F(V1ListTest, JobsAreFilteredAndSorted) {
    Make("a", R"(,"owner":"ada","group":"g","labels":{"x":"1","y":"=2"})");
    Make("b", R"(,"owner":"bob","enabled":false)");
    Make("c", R"(,"tenant":"t","labels":{"x":"1"})");
    EXPECT_EQ(Walk("/jobs"), (Ids{"a", "b", "c"}));
    EXPECT_EQ(Walk("/jobs?sort=-id"), (Ids{"c", "b", "a"}));
    EXPECT_EQ(Walk("/jobs?sort=name&limit=1"), (Ids{"a", "b", "c"}));
    EXPECT_EQ(Walk("/jobs?group=g"), (Ids{"a"}));
    EXPECT_EQ(Walk("/jobs?owner=bob"), (Ids{"b"}));
    EXPECT_EQ(Walk("/jobs?tenant=t"), (Ids{"c"}));
    EXPECT_EQ(Walk("/jobs?enabled=false"), (Ids{"b"}));
    EXPECT_EQ(Walk("/jobs?type=http"), (Ids{"a", "b", "c"}));
    EXPECT_EQ(Walk("/jobs?type=queue"), Ids());
    EXPECT_EQ(Walk("/jobs?label=x=1"), (Ids{"a", "c"}));
    EXPECT_EQ(Walk("/jobs?label=x=1&label=y==2"), (Ids{"a"}));
    EXPECT_EQ(Walk("/jobs?q=bob"), (Ids{"b"}));
    EXPECT_EQ(Walk("/jobs?last_state=failed"), Ids());
}

TEST_F(V1ListTest, TotalsAreCountedOnRequest) {
    for (int i = 0; i < 5; ++i) Make(fmt::format("j{}", i));
    EXPECT_FALSE(Has(Get("/jobs?limit=2"), "total\":{"));
    EXPECT_TRUE(Has(Get("/jobs?limit=2&total=true"), R"("total":{"count":5,"relation":"exact"}})"));
}

TEST_F(V1ListTest, QueriesAreCheckedAtOnce) {
    const Response answer = Get("/jobs?limit=501&enabled=x&lmit=1&sort=nam&type=htp&label=x");
    EXPECT_EQ(answer.status, 400);
    for (const std::string name : {"limit", "enabled", "lmit", "sort", "type", "label"}) {
        EXPECT_TRUE(Has(answer, fmt::format(R"("pointer":"/query/{}")", name))) << answer.body;
    }
    EXPECT_EQ(Get("/jobs?q=a&q=b").status, 400);
    for (const std::string wrong : {"state=x", "parent=1", "finished_from=1", "kind=x", "trigger=x",
                                    "limit=0", "total=1", "sort=name"}) {
        EXPECT_EQ(Get("/runs?" + wrong).status, 400) << wrong;
    }
}

TEST_F(V1ListTest, ACursorIsGoodForItsListOnly) {
    for (int i = 0; i < 4; ++i) Make(fmt::format("j{}", i));
    const Response first = Get("/jobs?limit=2&q=j");
    const std::string cursor = TextOf(first, "next_cursor");
    ASSERT_FALSE(cursor.empty()) << first.body;
    EXPECT_EQ(IdsOf(Get("/jobs?q=j&cursor=" + cursor)), (Ids{"j2", "j3"})) << "another limit";
    for (const std::string other : {"/jobs?", "/jobs?q=k&", "/jobs?q=j&sort=name&",
                                    "/jobs?q=j&enabled=true&", "/runs?q=j&", "/jobs/j0/ledger?"}) {
        const Response refused = Get(other + "cursor=" + cursor);
        EXPECT_EQ(refused.status, 400) << other;
        EXPECT_TRUE(Has(refused, "bad_cursor")) << refused.body;
    }
    for (std::size_t i = 0; i < cursor.size(); ++i) {
        std::string changed = cursor;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        EXPECT_EQ(Get("/jobs?q=j&cursor=" + changed).status, 400) << i;
    }
    EXPECT_EQ(Get("/jobs?q=j&cursor=id%3A2%3Aj1").status, 400) << "the store's own";
}

TEST_F(V1ListTest, ACursorSurvivesARestart) {
    for (int i = 0; i < 4; ++i) Make(fmt::format("j{}", i));
    const std::string next = NextOf(Get("/jobs?limit=3"));
    http_server::Router restarted;
    Mount(restarted);
    router_ = std::move(restarted);
    EXPECT_EQ(IdsOf(Get(next)), (Ids{"j3"}));
}

TEST_F(V1ListTest, TwoNodesAgreeOnTheKey) {
    Cursors one(*store_, random_);
    Cursors other(*store_, random_);
    const auto sealed = one.Seal("scope", "place");
    ASSERT_TRUE(sealed);
    EXPECT_EQ(other.Open("scope", *sealed).value(), "place");
    EXPECT_FALSE(other.Open("scop", *sealed));
    EXPECT_EQ(other.Open("scope", "").value(), "");
}

TEST_F(V1ListTest, AnAnswerIsBoundedInBytes) {
    const std::string large(60'000, 'x');
    for (int i = 0; i < 330; ++i) {
        const std::string http =
            R"(,"http":{"method":"POST","url":"http://x/","body":")" + large + "\"}";
        ASSERT_EQ(Post("/jobs", fmt::format(R"({{"id":"j{:03}","name":"n","schedule":)"
                                            R"({{"kind":"every","every":"1h"}}{}}})",
                                            i, http))
                      .status,
                  201);
    }
    EXPECT_EQ(IdsOf(Get("/jobs?limit=500")).size(), 2 * kItemsAtOnce) << "12 MB are enough";
    EXPECT_EQ(Walk("/jobs?limit=500").size(), 330U);
    for (int i = 0; i < 330; ++i) {
        const std::string id = fmt::format("/jobs/j{:03}", i);
        ASSERT_EQ(Do(HttpMethod::kDelete, id).status, 204);
    }
    for (int i = 0; i < 330; ++i) Make(fmt::format("s{:03}", i));
    EXPECT_EQ(IdsOf(Get("/jobs?limit=120")).size(), 120U) << "small ones fill their page";
    EXPECT_EQ(Walk("/jobs?limit=120").size(), 330U);
}

TEST_F(V1ListTest, TheLedgerIsPagedToo) {
    Make("j");
    ASSERT_EQ(Post("/jobs/j/pause").status, 200);
    clock_.Advance(std::chrono::hours(1));
    ASSERT_EQ(Post("/jobs/j/resume").status, 200);
    const Response ledger = Get("/jobs/j/ledger");
    EXPECT_TRUE(Has(ledger, R"("fate":"skipped_paused","count":12)")) << ledger.body;
    EXPECT_EQ(Get("/jobs/j/ledger?from=2100-01-01T00:00:00Z").status, 200);
    EXPECT_EQ(Get("/jobs/j/ledger?total=true").status, 400) << "it is not counted";
    EXPECT_EQ(Get("/jobs/none/ledger").status, 404);
}

}  // namespace
}  // namespace ksana::api
