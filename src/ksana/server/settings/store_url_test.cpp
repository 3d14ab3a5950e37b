#include "ksana/server/settings/store_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana::server {
namespace {

StoreUrl Parse(std::string_view text) {
    auto url = ParseStoreUrl(text);
    EXPECT_TRUE(url) << text << ": " << url.error().message;
    return url ? *url : StoreUrl{};
}

std::string Refusal(std::string_view text) {
    const auto url = ParseStoreUrl(text);
    EXPECT_FALSE(url) << text;
    if (url) return "";
    EXPECT_EQ(url.error().code, Code::kInvalidArgument);
    return url.error().message;
}

std::string Shown(std::string_view text) { return ShownUrl(Parse(text)); }

TEST(StoreUrl, EveryFormIsRead) {
    EXPECT_EQ(Parse("sqlite"), (StoreUrl{StoreKind::kSqlite, "data/ksana.db"}));
    EXPECT_EQ(Parse("json"), (StoreUrl{StoreKind::kJson, "data/jobs.json"}));
    EXPECT_EQ(Parse("sqlite:k.db"), (StoreUrl{StoreKind::kSqlite, "k.db"}));
    EXPECT_EQ(Parse("sqlite:/var/k.db"), (StoreUrl{StoreKind::kSqlite, "/var/k.db"}));
    EXPECT_EQ(Parse("sqlite:///var/k.db"), (StoreUrl{StoreKind::kSqlite, "/var/k.db"}));
    EXPECT_EQ(Parse("json:a b:c.json"), (StoreUrl{StoreKind::kJson, "a b:c.json"}));
    EXPECT_EQ(Parse("memory:"), (StoreUrl{StoreKind::kMemory, ""}));
    EXPECT_EQ(Parse("memory"), (StoreUrl{StoreKind::kMemory, ""}));
    for (const std::string url :
         {"postgres://h/db", "postgresql://u:p@h:5432/db?sslmode=require"}) {
        EXPECT_EQ(Parse(url), (StoreUrl{StoreKind::kPostgres, url}));
    }
}

TEST(StoreUrl, ABareWordIsAFileInTheDataFolder) {
    const StoreUrl sqlite{StoreKind::kSqlite, "/var/lib/ksana/ksana.db"};
    const StoreUrl json{StoreKind::kJson, "/var/lib/ksana/jobs.json"};
    EXPECT_EQ(*ParseStoreUrl("sqlite", "/var/lib/ksana"), sqlite);
    EXPECT_EQ(*ParseStoreUrl("json", "/var/lib/ksana/"), json);
    EXPECT_EQ(ParseStoreUrl("sqlite:k.db", "/var/lib/ksana")->location, "k.db");
}

TEST(StoreUrl, PoolerIsTakenOutOfTheUrl) {
    const auto pooled = [](const std::string& url) {
        return StoreUrl{StoreKind::kPostgres, url, true};
    };
    const std::string option = "ksana_pooler=transaction";
    EXPECT_EQ(Parse("postgres://h/db?" + option), pooled("postgres://h/db"));
    EXPECT_EQ(Parse("postgres://h/db?" + option + "&sslmode=require&user=u"),
              pooled("postgres://h/db?sslmode=require&user=u"));
    EXPECT_EQ(Parse("postgres://h/db?sslmode=require&" + option + "&user=u"),
              pooled("postgres://h/db?sslmode=require&user=u"));
    EXPECT_EQ(Parse("postgres://h/db?sslmode=require&" + option),
              pooled("postgres://h/db?sslmode=require"));
    for (const std::string url : {"postgres://h/db?", "postgres://h/db?a=1&&b=2&"}) {
        EXPECT_EQ(Parse(url), (StoreUrl{StoreKind::kPostgres, url, false}));
    }
    EXPECT_EQ(Shown("postgres://h/db?" + option + "&password=pw"), "postgres://h/db?password=***");
    for (const char* wrong : {"ksana_pooler=session", "ksana_pooler", "ksana_pool=transaction"}) {
        const std::string refusal = Refusal(std::string("postgres://u:secret@h/db?") + wrong);
        EXPECT_NE(refusal.find(option), std::string::npos) << refusal;
        EXPECT_EQ(refusal.find("secret"), std::string::npos);
    }
}

TEST(StoreUrl, RefusalsSayWhatToWrite) {
    EXPECT_NE(Refusal("sqlit:k.db").find("did you mean sqlite?"), std::string::npos);
    EXPECT_NE(Refusal("mysql://h/db").find("json:PATH, memory:"), std::string::npos);
    EXPECT_NE(Refusal("").find("sqlite:PATH"), std::string::npos);
    EXPECT_NE(Refusal("data/ksana.db").find("sqlite:PATH"), std::string::npos);
    EXPECT_NE(Refusal("sqlite:").find("path is missing"), std::string::npos);
    EXPECT_NE(Refusal("sqlite:///").find("folder"), std::string::npos);
    EXPECT_NE(Refusal("json:data/").find("folder"), std::string::npos);
    EXPECT_NE(Refusal("sqlite://k.db").find("without //"), std::string::npos);
    EXPECT_NE(Refusal("sqlite::memory:").find("write memory:"), std::string::npos);
    EXPECT_NE(Refusal("memory:x").find("nothing can follow"), std::string::npos);
    EXPECT_NE(Refusal("postgres").find("postgres://"), std::string::npos);
    EXPECT_NE(Refusal("postgres:h/db").find("postgres://"), std::string::npos);
    Refusal(std::string_view("sqlite:a\0b", 10));
    Refusal(std::string_view("postgres://a\0b", 14));
    EXPECT_EQ(Refusal("\x1b[2J:x").find('\x1b'), std::string::npos);
    EXPECT_EQ(Refusal("postgers://u:secret@h/db").find("secret"), std::string::npos);
}

TEST(StoreUrl, APasswordIsNotShown) {
    EXPECT_EQ(Shown("sqlite"), "sqlite:data/ksana.db");
    EXPECT_EQ(Shown("json:x\n.json"), "json:x\\n.json");
    EXPECT_EQ(Shown("memory"), "memory:");
    EXPECT_EQ(Shown("postgres://u@h/db"), "postgres://u@h/db");
    EXPECT_EQ(Shown("postgres://h:5432/db"), "postgres://h:5432/db");
    EXPECT_EQ(Shown("postgres://u:pw@h:5432/db"), "postgres://u:***@h:5432/db");
    EXPECT_EQ(Shown("postgres:///db?user=u&password=pw&sslmode=require"),
              "postgres:///db?user=u&password=***&sslmode=require");
    EXPECT_EQ(Shown("postgres://h/db?sslpassword=pw"), "postgres://h/db?sslpassword=***");
    // Malformed URLs, which are more likely to end up in an error message.
    for (const std::string password : {"s/e", "s@e", "s?e", "s:e", "s#e", "s&e"}) {
        EXPECT_EQ(Shown("postgres://u:" + password + "@h/db"), "postgres://u:***@h/db");
    }
    EXPECT_EQ(Shown("postgres://h/db?pass%77ord=pw").find("=pw"), std::string::npos);
}

}  // namespace
}  // namespace ksana::server
