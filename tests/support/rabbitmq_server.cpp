#include "support/rabbitmq_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ksana::testing {
namespace {

// Runs tests/support/start_rabbitmq.sh and returns what it prints.
std::string StartScript(const std::string& arguments) {
    const std::string command =
        fmt::format("bash {}/tests/support/start_rabbitmq.sh {}", KSANA_SOURCE_DIR, arguments);
    FILE* const out = ::popen(command.c_str(), "r");
    if (out == nullptr) return {};
    std::string text;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), out) != nullptr) text += buffer.data();
    EXPECT_EQ(::pclose(out), 0) << command;
    return text;
}

// Reads the first line.
broker::BrokerUrl Parsed(const std::string& lines) {
    const std::string text = lines.substr(0, lines.find('\n'));
    const auto url = broker::ParseBrokerUrl(text);
    EXPECT_TRUE(url) << text;
    return url.value_or({});
}

broker::BrokerUrl FromEnvironment(const char* variable) {
    const char* const url = std::getenv(variable);
    if (url != nullptr) return Parsed(url);
    ADD_FAILURE() << variable
                  << " names no broker; start one with tests/support/start_rabbitmq.sh FOLDER";
    return {};
}

}  // namespace

broker::BrokerUrl SharedRabbitmq() { return FromEnvironment("KSANA_TEST_RABBITMQ"); }

broker::BrokerUrl SharedRabbitmqTls() { return FromEnvironment("KSANA_TEST_RABBITMQ_TLS"); }

// The certificate is in the folder of the broker.
std::string RunSharedRabbitmqctl(const std::string& words) {
    const std::filesystem::path certificate = SharedRabbitmqTls().ca_file;
    return StartScript(fmt::format("ctl {} -q {}", certificate.parent_path().string(), words));
}

PrivateRabbitmq::PrivateRabbitmq() {
    // The broker runs as another user.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    Start();
}

PrivateRabbitmq::~PrivateRabbitmq() { StartScript("stop " + folder_.path().string()); }

void PrivateRabbitmq::Start() { url_ = Parsed(StartScript(folder_.path().string())); }

void PrivateRabbitmq::Kill() { StartScript("kill " + folder_.path().string()); }

void PrivateRabbitmq::Ctl(const std::string& words) {
    StartScript(fmt::format("ctl {} -q {}", folder_.path().string(), words));
}

}  // namespace ksana::testing
