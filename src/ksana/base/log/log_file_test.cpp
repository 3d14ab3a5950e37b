#include "ksana/base/log/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ksana {
namespace {

class LogFileTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "log_file_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        path_ = folder_ / "log";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string Content() const {
        std::ostringstream text;
        text << std::ifstream(path_).rdbuf();
        return text.str();
    }

    std::filesystem::path folder_;
    std::filesystem::path path_;
};

TEST_F(LogFileTest, AppendsLines) {
    {
        auto file = LogFile::Open(path_);
        ASSERT_TRUE(file);
        file->Write("one");
        LogFile moved = std::move(*file);
        moved.Write("two\nthree");
    }
    LogFile again;
    again = *LogFile::Open(path_);
    again.Write("four");
    again.Write("");
    EXPECT_EQ(Content(), "one\ntwo\nthree\nfour\n\n");
}

TEST_F(LogFileTest, AFileThatCannotBeOpenedIsNamed) {
    const auto file = LogFile::Open(folder_ / "missing" / "log");
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find("missing/log: No such file"), std::string::npos)
        << file.error().message;
}

// A full disk (here: a file size limit) truncates the log, and the program continues.
TEST_F(LogFileTest, WhatFindsNoRoomIsLost) {
    auto file = LogFile::Open(path_);
    ASSERT_TRUE(file);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{10, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    file->Write("01234567");
    file->Write("abcdef");
    file->Write("more");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(Content(), "01234567\na");
}

}  // namespace
}  // namespace ksana
