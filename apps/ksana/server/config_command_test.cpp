#include <gtest/gtest.h>

#include <fstream>

#include "support/app_process.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::app {
namespace {

class ConfigCommandTest : public ::testing::Test {
  protected:
    ConfigCommandTest() { app_.process().environment["KSANA_CONFIG"] = file_; }

    void Write(const std::string& text) { std::ofstream(file_) << text; }
    bool Shows(std::string_view text) { return app_.output().out.find(text) != std::string::npos; }
    bool Says(std::string_view text) { return app_.output().err.find(text) != std::string::npos; }

    test::TemporaryFolder folder_;
    std::string file_ = folder_.File("ksana.toml");
    test::AppProcess app_;
};

TEST_F(ConfigCommandTest, ShowsWhereEachValueCameFrom) {
    Write("workers = 7\n\nlog_level = \"debug\"\nretention = \"1h\"\n");
    app_.process().environment["KSANA_LOG_LEVEL"] = "warn";
    app_.process().environment["PORT"] = "7300";
    ASSERT_EQ(app_.Run({"config", "show", "--origin", "--retention", "2h"}), 0)
        << app_.output().err;
    EXPECT_TRUE(Shows("workers = 7")) << app_.output().out;
    EXPECT_TRUE(Shows(file_ + ":1\n")) << app_.output().out;
    EXPECT_TRUE(Shows("log_level = \"warn\""));
    EXPECT_TRUE(Shows("# KSANA_LOG_LEVEL\n"));
    EXPECT_TRUE(Shows("# PORT\n"));
    EXPECT_TRUE(Shows("retention = \"2h\""));
    EXPECT_TRUE(Shows("# --retention\n"));
    EXPECT_TRUE(Shows("# default\n"));
}

TEST_F(ConfigCommandTest, WhatItShowsIsAFileOfSettings) {
    Write(
        "egress_allow = [\"10.0.0.0/8\", \"fd00::/8\"]\ndata_dir = \"a\\\"b\"\n"
        "max_body = \"2MB\"\n");
    ASSERT_EQ(app_.Run({"config", "show"}), 0) << app_.output().err;
    const std::string first = app_.output().out;
    EXPECT_TRUE(Shows("egress_allow = [\"10.0.0.0/8\", \"fd00::/8\"]")) << first;
    EXPECT_TRUE(Shows("#log_file = \"\"\n")) << "nobody has set it: " << first;
    Write(first);
    ASSERT_EQ(app_.Run({"config", "check", file_}), 0) << app_.output().err;
    ASSERT_EQ(app_.Run({"config", "show"}), 0);
    EXPECT_EQ(app_.output().out, first);
}

TEST_F(ConfigCommandTest, HidesPasswords) {
    Write("store = \"postgresql://me:geheim@db/ksana\"\n");
    for (const char* const format : {"text", "json"}) {
        ASSERT_EQ(app_.Run({"config", "show", "--origin", "-o", format}), 0) << app_.output().err;
        EXPECT_FALSE(Shows("geheim"));
        EXPECT_TRUE(Shows("***"));
    }
    EXPECT_TRUE(Shows("\"source\": \"file\"")) << app_.output().out;
}

TEST_F(ConfigCommandTest, NamesEveryFault) {
    Write("prot = 1\nworkers = 0\n");
    EXPECT_EQ(app_.Run({"config", "show"}), 2);
    EXPECT_TRUE(Says("did you mean port?")) << app_.output().err;
    EXPECT_EQ(app_.output().out, "");
    EXPECT_EQ(app_.Run({"config", "check", file_}), 2);
    EXPECT_TRUE(Says(file_ + ":1/prot")) << app_.output().err;
    EXPECT_TRUE(Says(file_ + ":2/workers")) << app_.output().err;
    EXPECT_EQ(app_.Run({"config", "check", folder_.File("none.toml")}), 3);
    EXPECT_TRUE(Says("No such file")) << app_.output().err;
}

TEST_F(ConfigCommandTest, ChecksAFileWithoutTheEnvironment) {
    Write("workers = 3\n");
    app_.process().environment["KSANA_PORT"] = "not a port";
    ASSERT_EQ(app_.Run({"config", "check", file_}), 0) << app_.output().err;
    EXPECT_TRUE(Shows("is right: 1 settings")) << app_.output().out;
}

}  // namespace
}  // namespace ksana::app
