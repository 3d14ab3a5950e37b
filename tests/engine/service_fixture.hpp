#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/calendars/calendar_service.hpp"
#include "ksana/engine/locks/store_locks.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {

// A job service over a memory store, with a clock that the test controls.
class ServiceFixture : public ::testing::Test {
  protected:
    std::size_t Runs(const std::string& job_id) {
        store::RunQuery query;
        query.filter.job_id = job_id;
        return store_->runs().List(query)->items.size();
    }

    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    StoreLocks locks_{store_->locks()};
    schedule::ZoneDatabase zones_;
    CalendarCache calendars_{*store_};
    FindCalendar find_calendar_ = [this](std::string_view name) { return calendars_.Find(name); };
    ScheduleCache book_{zones_, find_calendar_};
    FirePlans plans_{book_, {}, {.defaults = {}, .max_fires = 100}};
    JobService service_{*store_, plans_, zones_, find_calendar_, ids_};
    CalendarWatch calendar_watch_{*store_, calendars_, book_, plans_, clock_, {}};
    CalendarService calendar_service_{*store_, calendars_, calendar_watch_, plans_};
};

}  // namespace ksana::engine
