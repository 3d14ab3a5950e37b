#include "ksana/server/settings/token_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace ksana::server {
namespace {

class TokenFileTest : public ::testing::Test {
  protected:
    Result<std::string> Read(const std::string& text) const {
        std::ofstream(path_, std::ios::binary) << text;
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
