#include <fmt/core.h>

#include "apps/ksana/doctor/doctor_checks.hpp"
#include "apps/ksana/store/store_option.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/server/store_files.hpp"

namespace ksana::app {
namespace {

using Level = Finding::Level;
using server::StoreKind;

constexpr const char* kCheck = "damage";

Finding FindingOf(const server::StoreDamage& damage) {
    if (damage.faults.empty()) {
        return {kCheck, Level::kOk,
                damage.live ? "none found beside the server that has it open; its log and "
                              "checksums are checked when it is stopped"
                            : "none found",
                ""};
    }
    std::string text;
    for (const std::string& fault : damage.faults) {
        text += fmt::format("{}{}", text.empty() ? "" : "\n", Printable(fault));
    }
    return {kCheck, Level::kFail, std::move(text),
            damage.live ? "stop the server and look again"
                        : "restore a backup, or accept what can be read: --repair"};
}

}  // namespace

std::vector<Finding> CheckDamage(const server::Settings& settings, bool repair,
                                 const Process& process) {
    const StoreKind kind = settings.store.kind;
    if (kind != StoreKind::kSqlite && kind != StoreKind::kJson) return {};
    std::vector<Finding> findings;
    if (repair) {
        const auto done = server::RepairStoreFiles(settings.store, EnvironmentOf(process));
        if (!done) {
            return {{"repair", Level::kFail, Printable(done.error().Describe()),
                     "nothing was changed, except for copies"}};
        }
        findings.push_back({"repair", Level::kOk, *done, ""});
    }
    const auto damage = server::CheckStoreFiles(settings.store, EnvironmentOf(process));
    if (!damage && damage.error().code == Code::kNotFound) return findings;
    if (!damage) {
        findings.push_back({kCheck, Level::kFail, Printable(damage.error().message),
                            "look at the permissions of the files"});
        return findings;
    }
    findings.push_back(FindingOf(*damage));
    return findings;
}

}  // namespace ksana::app
