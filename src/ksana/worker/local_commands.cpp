#include "ksana/worker/local_commands.hpp"

#include <utility>

namespace ksana::worker {

std::vector<std::string> LocalCommands::types() const {
    std::vector<std::string> names;
    for (const auto& [type, argv] : programs_) names.push_back(type);
    return names;
}

void LocalCommands::Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) {
    const auto found = programs_.find(attempt->run.type);
    if (found == programs_.end()) {
        model::Event unknown;
        unknown.kind = model::EventKind::kRetryableFailure;
        unknown.error = "this worker has no program for the type \"" + attempt->run.type + "\"";
        return done(std::move(unknown));
    }
    auto job = std::make_shared<model::Job>();
    if (attempt->job) job->definition() = attempt->job->definition();
    job->action = model::CommandAction{.argv = found->second};
    engine::AttemptPointer command = engine::MakeAttempt(attempt->run, std::move(job));
    command->run.kind = model::ActionKind::kCommand;
    command->tell = attempt->tell;
    commands_.Start(std::move(command), std::move(done));
}

}  // namespace ksana::worker
