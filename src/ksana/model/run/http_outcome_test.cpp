#include "ksana/model/run/decide.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

// K-09
TEST(OutcomeOfHttpStatus, TellsWhatMayBeTriedAgain) {
    for (const int status : {200, 201, 204, 299}) {
        EXPECT_EQ(OutcomeOfHttpStatus(status), EventKind::kSuccess) << status;
    }
    for (const int status : {408, 425, 429, 500, 502, 503, 504, 599}) {
        EXPECT_EQ(OutcomeOfHttpStatus(status), EventKind::kRetryableFailure) << status;
    }
    for (const int status : {0, 100, 301, 302, 400, 401, 404, 410, 422, 600, -1}) {
        EXPECT_EQ(OutcomeOfHttpStatus(status), EventKind::kPermanentFailure) << status;
    }
}

}  // namespace
}  // namespace ksana::model
