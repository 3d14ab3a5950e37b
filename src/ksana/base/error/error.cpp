#include "ksana/base/error/error.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/error/result.hpp"

namespace ksana {
namespace {

constexpr std::array<CodeInfo, kCodeCount> kCodes = {{
    {Code::kInvalidArgument, "invalid_argument", 400, 2, false},
    {Code::kNotFound, "not_found", 404, 3, false},
    {Code::kAlreadyExists, "already_exists", 409, 5, false},
    {Code::kConflict, "conflict", 409, 5, false},
    {Code::kLeaseLost, "lease_lost", 409, 5, false},
    {Code::kUnavailable, "unavailable", 503, 6, true},
    {Code::kDeadlineExceeded, "deadline_exceeded", 504, 124, true},
    {Code::kUnauthenticated, "unauthenticated", 401, 4, false},
    {Code::kPermissionDenied, "permission_denied", 403, 4, false},
    {Code::kExhausted, "exhausted", 429, 6, true},
    {Code::kStorageFull, "storage_full", 507, 6, true},
    {Code::kDataLoss, "data_loss", 500, 1, false},
    {Code::kUnimplemented, "unimplemented", 501, 1, false},
    {Code::kInternal, "internal", 500, 1, false},
}};

}  // namespace

const CodeInfo& Info(Code code) {
    const auto index = static_cast<std::size_t>(code);
    KSANA_CHECK(index < kCodes.size() && kCodes.at(index).code == code, "unknown error code");
    return kCodes.at(index);
}

void NoValue() {
    CheckFailed(__FILE__, __LINE__, "has_value()", "value() of a Result that holds an error");
}
void NoError() {
    CheckFailed(__FILE__, __LINE__, "!has_value()", "error() of a Result that holds a value");
}

Error::Error() = default;
Error::Error(Code error_code, std::string text) : code(error_code), message(std::move(text)) {}
Error::Error(Code error_code, const char* text) : code(error_code), message(text) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Error::Error(std::vector<Problem> faults, std::size_t untold)
    : code(Code::kInvalidArgument), problems(std::move(faults)) {
    KSANA_CHECK(!problems.empty(), "an invalid-input error names at least one problem");
    const std::size_t all = problems.size() + untold;
    message = all == 1 ? "the input has a problem" : fmt::format("the input has {} problems", all);
    if (all <= kMostProblems) return;
    if (problems.size() > kMostProblems) problems.resize(kMostProblems);
    problems.push_back(
        {"", fmt::format("and {} more problems", all - problems.size()), "more", {}});
}

Error Error::WithContext(std::string_view context) && {
    message = fmt::format("{}: {}", context, message);
    return std::move(*this);
}

std::string Error::Describe() const {
    std::string text = message;
    for (const Problem& problem : problems) {
        text += fmt::format("\n  {}: {}", problem.path.empty() ? "(document)" : problem.path,
                            problem.message);
    }
    return text;
}

}  // namespace ksana
