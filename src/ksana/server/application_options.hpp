#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/api/edge/frame.hpp"
#include "ksana/api/events/event_streams.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/engine/node.hpp"
#include "ksana/exec/command/command_executor.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_server/server.hpp"
#include "ksana/mail/smtp_mailer.hpp"
#include "ksana/server/application.hpp"
#include "ksana/server/settings/settings.hpp"

// The options of each part of the server, made from the settings.

namespace ksana::server {

// Returns whether only one process can use the store, so that no other node can have this node's
// name.
inline bool IsSingleProcessStore(StoreKind kind) { return kind != StoreKind::kPostgres; }

model::PolicyDefaults DefaultsOf(const Settings& settings);
engine::CallbackOptions CallbackOptionsOf(const Settings& settings);
// `locks` may be null; `address` returns the URL of this server once it listens.
engine::NodeOptions NodeOptionsOf(const Settings& settings, const ApplicationParts& parts,
                                  lock::LockDriver* locks, std::function<std::string()> address);
// The error names a range of addresses that cannot be read.
// Sets the authorities and revocation lists that calls trust. Empty: those of the system, and
// none. An error names the one whose file cannot be used.
Result<void> SetAuthorities(const std::string& ca_file, const std::string& crl_file,
                            http_client::ClientOptions& options);
Result<http_client::ClientOptions> ClientOptionsOf(const Settings& settings);
// Returns nullopt if no mail server is configured.
Result<std::optional<mail::SmtpOptions>> SmtpOptionsOf(const Settings& settings);
http_server::ServerOptions ServerOptionsOf(const Settings& settings,
                                           std::function<void()> on_drain);
// Returns nullopt if every Host is accepted: a token already keeps out pages that rebind a name
// (docs/decisions/0041-before-a-request-is-read.md).
std::optional<http_server::HostRule> HostRuleOf(const Settings& settings);
// With several writing nodes, events may become visible out of the order of their numbers.
api::EventStreams::Options EventOptionsOf(const Settings& settings);

// Returns null if this server runs no commands.
std::unique_ptr<exec::CommandExecutor> CommandsOf(const Settings& settings,
                                                  const model::TraceSampler& sampler,
                                                  const Clock& clock);
// Returns null without a mail server.
std::unique_ptr<mail::SmtpMailer> MailerOf(std::optional<mail::SmtpOptions> options,
                                           const Clock& clock);
// All settings as the API shows them.
std::vector<api::ShownSetting> ShownSettings(
    const Settings& settings, const std::map<std::string_view, SettingOrigin>& origins);

}  // namespace ksana::server
