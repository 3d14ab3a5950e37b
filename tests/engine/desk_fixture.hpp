#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ksana/base/fake_clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/engine/calendar_desk.hpp"
#include "ksana/engine/job_desk.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {

// A desk where jobs are made, over a store in memory and a clock that a test moves.
class DeskFixture : public ::testing::Test {
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
    schedule::ZoneDatabase zones_;
    CalendarBook calendars_{*store_};
    FindCalendar find_calendar_ = [this](std::string_view name) { return calendars_.Find(name); };
    ScheduleBook book_{zones_, find_calendar_};
    FirePlans plans_{book_, {}, {.defaults = {}, .max_fires = 100}};
    JobDesk desk_{*store_, plans_, zones_, find_calendar_, ids_};
    CalendarWatch calendar_watch_{*store_, calendars_, book_, plans_, clock_, {}};
    CalendarDesk calendar_desk_{*store_, calendars_, calendar_watch_, plans_};
};

}  // namespace ksana::engine
