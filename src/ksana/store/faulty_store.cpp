#include "ksana/store/faulty_store.hpp"

#include <utility>

#include "ksana/store/wrapped/wrapped_store.hpp"

namespace ksana::store {
namespace {

// Makes calls and injects the faults of the plan. Thread-safe if `wait` is.
class Injector {
  public:
    static constexpr bool kRepeats = true;

    Injector(FaultPlan& plan, std::function<void(Duration)> wait)
        : plan_(plan), wait_(std::move(wait)) {}

    // `body` may be called twice, so it must not move from its arguments.
    template <class F>
    auto Call(std::string_view operation, const F& body) -> decltype(body()) {
        const Fault fault = plan_.Take(operation);
        switch (fault.kind) {
            case FaultKind::kNone:
                return body();
            case FaultKind::kErrorBefore:
                return Error(Code::kUnavailable, "injected: nothing was done");
            case FaultKind::kRefused:
                return Error(Code::kInvalidArgument, "injected: refused");
            case FaultKind::kErrorAfter: {
                auto answer = body();
                if (!answer) return answer;
                return Error(Code::kUnavailable, "injected: the outcome is unknown");
            }
            case FaultKind::kDelay:
                if (wait_) wait_(fault.delay);
                return body();
            case FaultKind::kLateAnswer: {
                auto answer = body();
                if (wait_) wait_(fault.delay);
                return answer;
            }
            case FaultKind::kDuplicate: {
                auto first = body();
                (void)body();
                return first;
            }
        }
        return body();
    }

  private:
    FaultPlan& plan_;
    std::function<void(Duration)> wait_;
};

}  // namespace

std::unique_ptr<Store> MakeFaultyStore(Store& inner, FaultPlan& plan,
                                       std::function<void(Duration)> wait) {
    return std::make_unique<WrappedStore<Injector>>(inner, plan, std::move(wait));
}

}  // namespace ksana::store
