#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/document.hpp"
#include "ksana/model/node.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::codec {

// Bodies of documents (model/document.hpp) for a store, not for users: members that have their
// default are left out, what is written comes back equal, and the secret keys of a type are
// included. Every fault has its JSON Pointer.

std::string RunTypeToJson(const model::RunType& type);
Result<model::RunType> RunTypeFromJson(std::string_view text);

std::string WorkerToJson(const model::Worker& worker);
Result<model::Worker> WorkerFromJson(std::string_view text);

// Servers of different versions read each other's rows, so members that this version does not know
// are ignored. A later version must not change what a member means.
std::string NodeToJson(const model::ServerNode& node);
Result<model::ServerNode> NodeFromJson(std::string_view text);

std::string LockToJson(const model::Lock& lock);
Result<model::Lock> LockFromJson(std::string_view text);

}  // namespace ksana::codec
