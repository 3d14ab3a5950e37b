#include "ksana/server/settings/token_file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace ksana::server {
namespace {

class TokenFileTest : public ::testing::Test {
  protected:
    Result<std::string> Read(const std::string& text) const {
        std::ofstream(path_, std::ios::binary) << text;
        ::chmod(path_.c_str(), 0600);
        return ReadTokenFile(path_);
    }

    test::TemporaryFolder folder_;
    std::string path_ = folder_.File("token");
};

TEST_F(TokenFileTest, TheFirstLineIsTheToken) {
    for (const char* const text : {"0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n",
                                   "0123456789abcdef  \n", "0123456789abcdef\nand notes\n"}) {
        const auto token = Read(text);
        ASSERT_TRUE(token) << text;
        EXPECT_EQ(*token, "0123456789abcdef");
    }
    EXPECT_EQ(Read(std::string(512, 'x') + "\n")->size(), 512U);
    EXPECT_EQ(*Read("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\n"), "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~");
}

TEST_F(TokenFileTest, WhatIsNoTokenIsRefusedAndNotShown) {
    for (const std::string& text :
         {std::string(), std::string("\n"), std::string("\n0123456789abcdef\n"),
          std::string("secret123456789\n"), std::string("secret 0123456789abcdef\n"),
          std::string(" secret0123456789abcdef\n"), std::string("secret0123456789abcd\xC3\xA4\n"),
          std::string("secret0123456789\0abcdef\n", 24), std::string("secret\t0123456789abcdef\n"),
          "secret" + std::string(512, 'x')}) {
        const auto token = Read(text);
        ASSERT_FALSE(token) << text;
        EXPECT_EQ(token.error().code, Code::kInvalidArgument);
        EXPECT_NE(token.error().message.find(path_), std::string::npos) << token.error().message;
        EXPECT_EQ(token.error().message.find("secret"), std::string::npos);
    }
}

// The group may read it: systemd gives a credential to the user of the service in this way.
TEST_F(TokenFileTest, WhatOthersCanReadIsRefused) {
    ASSERT_TRUE(Read("0123456789abcdef\n"));
    for (const mode_t mode : {0644U, 0604U, 0602U, 0620U, 0666U}) {
        ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
        const auto token = ReadTokenFile(path_);
        ASSERT_FALSE(token) << mode;
        EXPECT_EQ(token.error().code, Code::kInvalidArgument);
        EXPECT_NE(token.error().message.find("chmod 600 " + path_), std::string::npos);
        EXPECT_FALSE(CheckSecretFile(path_));
    }
    for (const mode_t mode : {0600U, 0400U, 0440U, 0640U}) {
        ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
        EXPECT_TRUE(ReadTokenFile(path_)) << mode;
        EXPECT_TRUE(CheckSecretFile(path_)) << mode;
    }
}

TEST_F(TokenFileTest, ADeviceIsNoFile) {
    for (const char* const path : {"/dev/zero", "/dev/null", "/dev/full"}) {
        const auto token = ReadTokenFile(path);
        ASSERT_FALSE(token) << path;
        EXPECT_NE(token.error().message.find("is not a file"), std::string::npos)
            << token.error().message;
    }
}

// What `--token-file <(pass show ksana)` gives.
TEST_F(TokenFileTest, APipe) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const std::string line = "0123456789abcdef\n";
    ASSERT_EQ(::write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    const auto token = ReadTokenFile("/dev/fd/" + std::to_string(ends[0]));
    ASSERT_TRUE(token) << token.error().message;
    EXPECT_EQ(*token, "0123456789abcdef");
    ::close(ends[1]);
    EXPECT_FALSE(ReadTokenFile("/dev/fd/" + std::to_string(ends[0]))) << "it has ended";
    ::close(ends[0]);
}

TEST_F(TokenFileTest, AHugeFileIsNotReadWhole) {
    ASSERT_TRUE(Read("0123456789abcdef\n"));
    std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
    EXPECT_TRUE(ReadTokenFile(path_));
    ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
    std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
    EXPECT_FALSE(ReadTokenFile(path_));
}

TEST_F(TokenFileTest, WhatCannotBeReadIsNamed) {
    for (const std::string& path : {folder_.File("none"), folder_.path().string()}) {
        const auto token = ReadTokenFile(path);
        ASSERT_FALSE(token);
        EXPECT_EQ(token.error().code, Code::kInvalidArgument);
        EXPECT_NE(token.error().message.find(path), std::string::npos) << token.error().message;
    }
}

}  // namespace
}  // namespace ksana::server
