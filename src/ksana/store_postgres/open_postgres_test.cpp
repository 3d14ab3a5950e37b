#include "ksana/store_postgres/open_postgres.hpp"

#include <gtest/gtest.h>

#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using ksana::testing::PostgresUrl;

TEST(OpenPostgresTest, FaultsOfTheUrlDoNotTellThePassword) {
    PostgresSchema schema;
    PostgresOptions options = schema.Options();
    for (const std::string& url :
         {std::string("postgresql://me:secret@host/db?no_such_option=secret"),
          PostgresUrl().replace(PostgresUrl().find("ksana@"), 6, "nobody_here:secret@"),
          PostgresUrl() + "_no_such_database"}) {
        options.url = url;
        options.call_timeout = std::chrono::seconds(5);
        const auto opened = OpenPostgres(options);
        ASSERT_FALSE(opened) << url;
        EXPECT_NE(opened.error().code, Code::kUnavailable) << opened.error().message;
        EXPECT_EQ(opened.error().message.find("secret"), std::string::npos)
            << opened.error().message;
    }
    options.schema = "x; DROP TABLE y";
    EXPECT_EQ(OpenPostgres(options).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace ksana::store_postgres
