#include "ksana/context.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

#include "ksana/declare.hpp"
#include "ksana/listener.hpp"
#include "ksana/logger.hpp"

// The small parts of the public headers that are not templates.

namespace ksana {

void Context::Put(std::type_index type, std::shared_ptr<void> object) {
    objects_[type] = std::move(object);
}

std::shared_ptr<void> Context::Look(std::type_index type) const {
    const auto found = objects_.find(type);
    return found == objects_.end() ? nullptr : found->second;
}

void* Context::Take(const std::type_info& type) const {
    const std::shared_ptr<void> found = Look(type);
    if (!found) throw std::out_of_range("the context has no " + detail::NameOfType(type));
    return found.get();
}

void Logger::Write(LogLevel level, std::string_view message, Fields fields) const {
    if (!LogEnabled(level)) return;
    std::vector<LogField> all;
    all.reserve(fields.size() + 1);
    all.emplace_back("logger", name_);
    all.insert(all.end(), fields.begin(), fields.end());
    Log(level, message, all);
}

void JobExecutionListener::OnStart(const std::string&, std::int64_t) {}
void JobExecutionListener::OnSuccess(const std::string&, std::int64_t, std::int64_t) {}
void JobExecutionListener::OnFailure(const std::string&, std::int64_t, std::int64_t,
                                     const std::string&) {}
void JobExecutionListener::OnSkipped(const std::string&, std::int64_t) {}

namespace detail {
namespace {

// Set before main, by the static objects of KSANA_JOB; a pointer needs no constructor of its own.
constinit Registration* first_registration = nullptr;

}  // namespace

std::string NameOfType(const std::type_info& type) {
    int status = 0;
    char* const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
    std::string text = status == 0 && name != nullptr ? name : type.name();
    std::free(name);
    return text;
}

// Some address that is aligned for every type. Nothing is read from or written to it.
void* Dependencies::StandIn() {
    alignas(std::max_align_t) static char place[64];
    return place;
}

Registration::Registration(const JobDeclaration& job, JobFactory make_job) noexcept
    : declaration(job), factory(make_job), next(first_registration) {
    first_registration = this;
}

Registration::~Registration() {
    Registration** link = &first_registration;
    while (*link != nullptr && *link != this) link = &(*link)->next;
    if (*link == this) *link = next;
}

const Registration* DeclaredJobs() noexcept { return first_registration; }

}  // namespace detail
}  // namespace ksana
