#include "ksana/sdk/run/fault.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/declare.hpp"
#include "ksana/model/run/agent.hpp"

namespace ksana::sdk {
namespace {

constexpr int kMostFrames = 48;
constexpr int kOwnFrames = 1;  // __cxa_throw itself

// The last throw on this thread. Plain data, so that noting it allocates nothing.
struct ThrowStack {
    bool on = false;
    const void* exception = nullptr;
    int count = 0;
    std::array<void*, kMostFrames> frames;
};
constinit thread_local ThrowStack last_throw{};

// "program(_ZN3foo3barEv+0x12) [0x55…]" with the name as it is written in the source.
std::string ShownFrame(const char* text) {
    std::string frame = text;
    const std::size_t open = frame.find('(');
    const std::size_t plus = frame.find('+', open);
    if (open == std::string::npos || plus == std::string::npos || plus <= open + 1) return frame;
    int status = 0;
    const std::string mangled = frame.substr(open + 1, plus - open - 1);
    char* const name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    if (status == 0 && name != nullptr) frame.replace(open + 1, plus - open - 1, name);
    std::free(name);
    return frame;
}

std::string StackOf(const ThrowStack& stack) {
    char** const texts = ::backtrace_symbols(stack.frames.data(), stack.count);
    if (texts == nullptr) return {};
    std::string lines;
    for (int n = kOwnFrames; n < stack.count; ++n) lines += ShownFrame(texts[n]) + "\n";
    std::free(static_cast<void*>(texts));
    return std::string(CutText(lines, model::kMaxStack));
}

// The address of the exception that is being handled: what __cxa_throw got.
const void* CurrentException() {
    const std::exception_ptr current = std::current_exception();
    const void* address = nullptr;
    static_assert(sizeof current == sizeof address);
    __builtin_memcpy(static_cast<void*>(&address), static_cast<const void*>(&current),
                     sizeof address);
    return address;
}

std::string Readable(const char* text) {
    const std::string_view view = text == nullptr ? "" : text;
    return IsUtf8(view) ? std::string(view) : Printable(view);
}

}  // namespace

ThrowStackScope::ThrowStackScope() : before_(last_throw.on) { last_throw.on = true; }
ThrowStackScope::~ThrowStackScope() {
    last_throw.on = before_;
    last_throw.exception = nullptr;
}

Fault CurrentFault() {
    Fault fault{.type = {}, .message = "an exception that is no std::exception", .stack = {}};
    if (const std::type_info* const type = abi::__cxa_current_exception_type(); type != nullptr) {
        fault.type = detail::NameOfType(*type);
    }
    if (last_throw.count > 0 && last_throw.exception == CurrentException()) {
        fault.stack = StackOf(last_throw);
    }
    try {
        throw;
    } catch (const std::exception& error) {
        fault.message = Readable(error.what());
    } catch (...) {
        Log(LogLevel::kDebug, "a function threw something unknown", {{"type", fault.type}});
    }
    return fault;
}

std::string Fault::ToDetail() const {
    JsonOutput output;
    output.BeginObject();
    output.Key("error");
    output.BeginObject();
    if (!type.empty()) output.TextMember("type", type);
    output.TextMember("message", CutText(message, model::kMaxErrorText));
    if (!stack.empty()) {
        output.Key("stack");
        output.PrintableText(stack);
    }
    output.EndObject();
    output.EndObject();
    return output.Take();
}

namespace {

void NoteThrow(const void* exception) {
    if (!last_throw.on) return;
    last_throw.exception = exception;
    last_throw.count = ::backtrace(last_throw.frames.data(), kMostFrames);
}

}  // namespace
}  // namespace ksana::sdk

// Every throw of the program passes here: the stack of an exception is known at no later time. The
// function is __cxa_throw for the linker only, as the compiler has a declaration of its own. Weak,
// so that a program that links the C++ library statically keeps that library's.
extern "C" {
[[noreturn]] void KsanaThrow(void* exception, void* type,
                             void (*destroy)(void*)) __asm__("__cxa_throw") __attribute__((weak));

void KsanaThrow(void* exception, void* type, void (*destroy)(void*)) {
    using Throw = void (*)(void*, void*, void (*)(void*));
    static const auto next = std::bit_cast<Throw>(::dlsym(RTLD_NEXT, "__cxa_throw"));
    ksana::sdk::NoteThrow(exception);
    if (next != nullptr) next(exception, type, destroy);
    std::abort();
}
}
