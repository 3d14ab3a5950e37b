#include "ksana/base/process/lazy_library.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ksana {
namespace {

struct Functions {
    KSANA_LATE_FUNCTION(strlen)
};

TEST(LazyLibrary, WhatIsFoundCanBeCalled) {
    const auto library = LazyLibrary::Load("libc.so.6", "libc6");
    ASSERT_TRUE(library) << library.error().message;
    Functions functions;
    ASSERT_TRUE(library->Find("strlen", functions.strlen));
    EXPECT_EQ(functions.strlen("ksana"), 5U);
}

TEST(LazyLibrary, AMissingOneIsAnErrorThatSaysWhatToInstall) {
    const auto library = LazyLibrary::Load("libksana_is_not_there.so.7", "libnowhere7");
    ASSERT_FALSE(library);
    EXPECT_NE(library.error().message.find("cannot load libksana_is_not_there.so.7: install "
                                           "libnowhere7"),
              std::string::npos)
        << library.error().message;
}

TEST(LazyLibrary, AMissingFunctionIsAnError) {
    const auto library = LazyLibrary::Load("libc.so.6", "libc6");
    ASSERT_TRUE(library);
    Functions functions;
    const auto found = library->Find("strlen_of_tomorrow", functions.strlen);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message,
              "libc.so.6 has no strlen_of_tomorrow: it is older than the one this was built with");
    EXPECT_EQ(functions.strlen, nullptr);
}

}  // namespace
}  // namespace ksana
